// Opens a node and lets workers send requests to its pool: node poolStep.mjs ADDON CONFIG. One worker sends continuously and
// prints its number of answers. Others end with unfinished calls, or while JavaScript runs behind an answer. One throws an
// exception behind an answer, which ends it.
import { createRequire } from 'node:module'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

const passers = 12
const calls = 200
const call = JSON.stringify({ to: '0x00000000000000000000000000000000000000fe', value: '0x0' })

const { path, config, role } = workerData ?? { path: process.argv[2], config: process.argv[3] }
const native = createRequire(import.meta.url)(path)
const ask = (token) => native.ethEstimateGas(call, 'latest', '', '', 60_000, token, false)

if (isMainThread) {
  native.openNode(config)
  const staying = start('stays')
  for (let index = 0; index < passers; index++) {
    const worker = start(index % 2 === 0 ? 'leaves' : 'runs')
    await new Promise((resolve) => worker.once('message', resolve))
    await worker.terminate()
  }
  console.log(await start('throws').ended.catch((error) => error.message))
  await staying.ended
  const refusal = await native.ethEstimateGas('{"to":1}', 'latest', '', '', 0, 1, false).catch((error) => error)
  console.log(JSON.parse(refusal.message).code)
  await native.closeNode()
} else {
  const { parentPort } = await import('node:worker_threads')
  let answers = 0
  for (let round = 0; round < (role === 'stays' ? 20 : 1); round++) {
    const asked = Array.from({ length: calls }, (_none, index) => ask(round * calls + index))
    if (role === 'leaves') parentPort.postMessage('asked')
    if (role === 'throws') asked[0].then(() => process.nextTick(() => { throw new Error('thrown') }))
    if (role === 'runs') {
      await asked[0]
      parentPort.postMessage('runs')
      for (;;);
    }
    for (const answer of await Promise.all(asked)) answers += answer === '"0x5208"' ? 1 : 0
  }
  if (role === 'stays') console.log(answers)
}

function start(role) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { path, config, role } })
  worker.ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
  return worker
}
