// The life of a node: how long from the command to the first answer, what an idle node takes, how long it takes to end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../nodeProcess.mjs'

const rounds = 5

export async function run(report) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-'))
  const figures = { start: [], memory: [], stop: [] }
  try {
    // The first round makes the data directory and is not counted.
    for (let round = 0; round <= rounds; round++) {
      const { start, memory, stop } = await live(join(folder, 'data'))
      if (round === 0) continue
      figures.start.push(start)
      figures.memory.push(memory)
      figures.stop.push(stop)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  report({ name: 'from the command to the first answer, median', value: median(figures.start), unit: 'ms' })
  report({ name: 'resident memory of the idle node, median', value: median(figures.memory), unit: 'KiB' })
  report({ name: 'from SIGINT to the end, median', value: median(figures.stop), unit: 'ms' })
}

async function live(dataDir) {
  const began = performance.now()
  const { child, url } = await startProcess('--data-dir', dataDir)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
  })
  await answer.json()
  const start = performance.now() - began
  await new Promise((resolve) => setTimeout(resolve, 500))
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
  const signalled = performance.now()
  child.kill('SIGINT')
  await ended
  return { start, memory, stop: performance.now() - signalled }
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
