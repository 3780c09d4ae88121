// A state from a peer without execution: the growth chain, from a node with `--snap-server` to a new node, then to a second node
// with kills at random moments. Each node is a process on this machine.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { growthChain } from '../growth/chain.mjs'
import { diskBytes } from '../growth/disk.mjs'
import { importBlocks } from '../growth/import.mjs'
import { ProcessMeter } from '../growth/process.mjs'
import { quantile, SyncNode } from '../sync/node.mjs'

const thisProgram = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
/** As on public networks. */
const settings = { RHIZOME_STORAGE_PROOFS: '128', RHIZOME_STORAGE_HISTORY: 'full' }
const idleMs = 4000
const kills = 20
/** Longest life of a node that is killed. */
const lifeMs = 3000
/** Blocks whose state peers ask for: multiples of `interval` minus `distance`, at least `distance` below the head. */
const pivots = { interval: 5000, distance: 3840 }
const minedAtOnce = 256
/** Longest time for a snapshot. */
const snapshotMs = 60_000
const bars = { ms: 300_000, memoryMib: 1024, ofIdle: 2 }

/** `entries` is the size of the state: storage slots and accounts. */
export async function run(report, { isQuick = false, entries }) {
  if (process.platform !== 'linux') throw new Error('snap reads /proc, which only Linux has')
  const say = (text) => process.stderr.write(`${text}\n`)
  const size = entries ?? (isQuick ? 200_000 : 1_000_000)
  const chain = await growthChain(size, say)
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-snap-'))
  let server
  try {
    const data = join(folder, 'server')
    await grow(chain, data, say)
    server = await SyncNode.start(chain.spec, data, ['--snap-server'], settings)
    const snapshot = await minePivot(server, data, say)
    const figure = (name, value, unit, isFailure = false) =>
      report({ name: `${size / 1e6} M: ${name}`, value, unit, isFailure })
    figure('snapshot of the server', diskBytes(snapshot) / 2 ** 20, 'MiB')
    await follow({ spec: chain.spec, data: join(folder, 'client'), server }, figure)
    await followThroughKills({ spec: chain.spec, data: join(folder, 'killed'), server, say }, figure)
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function grow(chain, data, say) {
  const flags = ['--chain', chain.spec, '--data-dir', data]
  const node = { program: thisProgram, flags, settings: { ...settings, RHIZOME_STORAGE_SNAPSHOTS: 'true' } }
  for (const { size, growth, mainnet, updates } of chain.parts) {
    say(`importing the blocks of a state of ${size.toLocaleString('en')} entries`)
    for (const part of [growth, mainnet, updates]) {
      const { failure } = await importBlocks(node, { ...part, blocks: part.to - part.from + 1 })
      if (failure !== undefined) throw new Error(failure)
    }
  }
}

/** Mines empty blocks until peers ask for a state after all blocks of the chain. Returns the folder of its snapshot. */
async function minePivot(server, data, say) {
  let head = Number(await server.ask('eth_blockNumber'))
  const target = Math.ceil((head + pivots.distance) / pivots.interval) * pivots.interval
  say(`mining ${target - head} empty blocks`)
  for (; head < target; head = Number(await server.ask('eth_blockNumber')))
    await server.ask('anvil_mine', `0x${Math.min(minedAtOnce, target - head).toString(16)}`)
  const [pivot, end] = [target - pivots.distance, performance.now() + snapshotMs]
  const folder = join(data, 'snapshots')
  while (performance.now() < end) {
    const name = existsSync(folder) && readdirSync(folder).find((name) => name.startsWith(`${pivot}-`))
    if (name) return join(folder, name)
    await sleep(200)
  }
  throw new Error(`the server has no snapshot of block ${pivot}`)
}

/** Synchronizes a new node, and compares the server's answers meanwhile with those of an idle server. */
async function follow({ spec, data, server }, figure) {
  const idle = quantile(await server.times(sleep(idleMs), 'eth_blockNumber'), 0.99)
  const node = await SyncNode.start(spec, data, ['--sync', 'snap'], settings)
  const [ofServer, ofNode] = [new ProcessMeter(server.pid), new ProcessMeter(node.pid)]
  try {
    const began = performance.now()
    await node.dial([server])
    const ms = {}
    const state = node.isAbove(0).then(() => (ms.state = performance.now() - began))
    const head = node.reaches(server).then(() => (ms.head = performance.now() - began))
    const busy = quantile(await server.times(head, 'eth_blockNumber'), 0.99)
    await state
    for (const meter of [ofServer, ofNode]) meter.sample()
    figure('time to the state', ms.state / 1000, 's')
    figure('time to the head', ms.head / 1000, 's', ms.head > bars.ms)
    for (const [name, { peakKib }] of Object.entries({ server: ofServer, client: ofNode }))
      figure(`memory of the ${name}`, peakKib / 1024, 'MiB', peakKib / 1024 > bars.memoryMib)
    figure('server: eth_blockNumber p99, idle', idle, 'ms')
    figure('server: eth_blockNumber p99', busy, 'ms', busy > bars.ofIdle * idle)
  } finally {
    for (const meter of [ofServer, ofNode]) meter.stop()
    await node.stop()
  }
  verify(spec, data, Number(await server.ask('eth_blockNumber')))
  rmSync(data, { recursive: true })
}

/** The same with a node that is killed at random moments, and continues after each. */
async function followThroughKills({ spec, data, server, say }, figure) {
  const began = performance.now()
  let killed = 0
  for (;;) {
    const node = await SyncNode.start(spec, data, ['--sync', 'snap'], settings)
    try {
      await node.dial([server])
      const reached = node.reaches(server).then(
        () => true,
        () => false,
      )
      const life = killed < kills ? sleep(Math.random() * lifeMs) : reached
      if ((await Promise.race([reached, life])) === true) break
      killed++
      say(`kill ${killed}`)
    } finally {
      await node.stop(killed < kills ? 'SIGKILL' : 'SIGTERM')
    }
  }
  figure(`time to the head with ${killed} kills`, (performance.now() - began) / 1000, 's')
  verify(spec, data, Number(await server.ask('eth_blockNumber')))
}

/** Executes the last blocks again and compares the whole state with the trie. */
function verify(spec, data, head) {
  const flags = ['verify', '--chain', spec, '--data-dir', data, '--from', `${head - 9}`, '--to', `${head}`, '--state']
  execFileSync(process.execPath, [thisProgram, ...flags], { stdio: 'ignore', env: { ...process.env, ...settings } })
}
