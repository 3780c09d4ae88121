// A worker thread that calls the addon as fast as it can.
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'

const addon = createRequire(import.meta.url)('../../ts/src/native/rhizome.node')

parentPort.on('message', ({ name, parameters, seconds }) => {
  const call = addon[name]
  const end = performance.now() + seconds * 1000
  let calls = 0
  let last = call(...parameters)
  do {
    for (let index = 0; index < 100 && seconds > 0; index++) last = call(...parameters)
    calls += 100
  } while (performance.now() < end)
  parentPort.postMessage({ calls, last })
})
