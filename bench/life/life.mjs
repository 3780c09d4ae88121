// Start and end of a node: time from the command to the first answer, memory of an idle node, time to shut down.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call } from '../chain/client.mjs'
import { startRhizome } from '../targets/rhizome.mjs'

const rounds = 5

export async function run(report) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-'))
  const figures = { start: [], memory: [], stop: [] }
  try {
    // The first round creates the data directory and is not counted.
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
  report({ name: 'from SIGTERM to the end, median', value: median(figures.stop), unit: 'ms' })
}

async function live(dataDir) {
  const began = performance.now()
  const node = await startRhizome({ flags: ['--data-dir', dataDir] })
  await call(node.url, 'eth_blockNumber')
  const start = performance.now() - began
  await new Promise((resolve) => setTimeout(resolve, 500))
  const memory = node.memoryKib
  const signalled = performance.now()
  await node.stop()
  return { start, memory, stop: performance.now() - signalled }
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
