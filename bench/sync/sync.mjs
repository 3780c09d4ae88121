// Synchronization of the chain `load` from nodes of this project: its time beside an import, its memory, and the waits of
// callers and of mined blocks meanwhile. Each node is a process on this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProcessMeter } from '../growth/process.mjs'
import { withImports } from '../import/import.mjs'
import { quantile, SyncNode } from './node.mjs'

const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const thisProgram = new URL('../../ts/rhizome.mjs', import.meta.url).pathname
const idleMs = 4000
/** Pause between two mined blocks. */
const pauseMs = 50
/** Share of the speed of an import that is wanted. */
const bar = 0.85

export async function run(report, { isQuick = false } = {}) {
  await withImports(async (importOnce, { folder, spec, blocks }) => {
    const sources = []
    let importKib = 0
    try {
      for (let at = 0; at < 2; at++) {
        const data = join(folder, `source${at}`)
        importKib = await importInto(data, spec, blocks)
        sources.push(await SyncNode.start(spec, data))
      }
      for (const count of isQuick ? [1] : [1, 2]) {
        // Each synchronization follows an import: the speed of a shared machine changes within minutes.
        const rounds = []
        for (let round = 0; round < (isQuick ? 1 : 3); round++) {
          const { seconds } = importOnce()
          rounds.push({ importMs: seconds * 1000, ...(await follow(spec, folder, sources.slice(0, count))) })
        }
        const middle = (value) => quantile(rounds.map(value), 0.5)
        const from = `from ${count} of our own`
        report({ name: `import of load, beside ${from}`, value: middle(({ importMs }) => importMs), unit: 'ms' })
        report({ name: `sync of load ${from}`, value: middle(({ ms }) => ms), unit: 'ms' })
        const share = middle(({ importMs, ms }) => importMs / ms)
        report({ name: `${from}: of the speed of the import`, value: 100 * share, unit: '%', isFailure: share < bar })
        const peakKib = Math.max(...rounds.map(({ busy }) => busy.peakKib))
        const idleKib = middle(({ idle }) => idle.kib)
        report({ name: `${from}: memory above idle`, value: (peakKib - idleKib) / 1024, unit: 'MiB' })
        report({ name: `${from}: memory above an import`, value: (peakKib - importKib) / 1024, unit: 'MiB' })
        report({ name: `${from}: eth_getBalance p99, idle`, value: middle(({ idle }) => idle.p99), unit: 'ms' })
        report({ name: `${from}: eth_getBalance p99`, value: middle(({ busy }) => busy.p99), unit: 'ms' })
      }
      const times = await mineMeanwhile(spec, folder, sources.slice(0, 1))
      report({ name: 'a block mined during a sync, median', value: quantile(times, 0.5), unit: 'ms' })
      report({ name: 'a block mined during a sync, longest', value: quantile(times, 1), unit: 'ms' })
    } finally {
      await Promise.all(sources.map((source) => source.stop()))
    }
  })
}

/** Imports a file of blocks. Returns the memory of the process at its highest, in KiB. */
async function importInto(data, spec, blocks) {
  const flags = ['import', '--chain', spec, '--data-dir', data, blocks]
  const child = spawn(process.execPath, [thisProgram, ...flags], { stdio: 'ignore' })
  const meter = new ProcessMeter(child.pid)
  const [code] = await once(child, 'close')
  meter.stop()
  if (code !== 0) throw new Error(`rhizome import: exit code ${code}`)
  return meter.peakKib
}

/** Synchronizes a new node while a caller asks for a balance. */
async function follow(spec, folder, sources) {
  const data = join(folder, 'following')
  const node = await SyncNode.start(spec, data)
  const meter = new ProcessMeter(node.pid)
  try {
    const idle = {
      p99: quantile(await node.times(sleep(idleMs), 'eth_getBalance', sender, 'latest'), 0.99),
      kib: meter.sample().memoryKib,
    }
    const began = performance.now()
    await node.dial(sources)
    let ms
    const reached = node.reaches(sources[0]).then(() => (ms = performance.now() - began))
    const times = await node.times(reached, 'eth_getBalance', sender, 'latest')
    meter.sample()
    return { ms, idle, busy: { p99: quantile(times, 0.99), peakKib: meter.peakKib } }
  } finally {
    meter.stop()
    await node.stop()
    rmSync(data, { recursive: true })
  }
}

/** Returns the times that mining takes while a node synchronizes. */
async function mineMeanwhile(spec, folder, sources) {
  const data = join(folder, 'mining')
  const node = await SyncNode.start(spec, data)
  try {
    const head = Number(await sources[0].ask('eth_blockNumber'))
    await node.dial(sources)
    while (Number(await node.ask('eth_blockNumber')) < head / 20) await sleep(5)
    const times = []
    while (Number(await node.ask('eth_blockNumber')) < (head * 9) / 10) {
      const began = performance.now()
      await node.ask('evm_mine')
      times.push(performance.now() - began)
      await sleep(pauseMs)
    }
    return times
  } finally {
    await node.stop()
    rmSync(data, { recursive: true })
  }
}
