// Synchronization of the chain `load` from nodes of this project: its time beside an import, its memory, and the waits of
// callers and of mined blocks meanwhile. Each node is a process on this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../growth/connection.mjs'
import { ProcessMeter } from '../growth/process.mjs'
import { withImports } from '../import/import.mjs'
import { firstLine, freePort, launch } from '../targets/target.mjs'

const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const thisProgram = new URL('../../ts/rhizome.mjs', import.meta.url).pathname
const limitMs = 300_000
const idleMs = 4000
/** Pauses between two requests for a balance, and between two mined blocks. */
const pausesMs = { balance: 5, block: 50 }
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
    const idle = { p99: quantile(await node.balances(sleep(idleMs)), 0.99), kib: meter.sample().memoryKib }
    const began = performance.now()
    await node.dial(sources)
    let ms
    const times = await node.balances(node.reaches(sources[0]).then(() => (ms = performance.now() - began)))
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
      await sleep(pausesMs.block)
    }
    return times
  } finally {
    await node.stop()
    rmSync(data, { recursive: true })
  }
}

class SyncNode {
  #child
  #url

  static async start(spec, data) {
    const node = new SyncNode()
    const p2p = ['--p2p-host', '127.0.0.1', '--p2p-port', `${await freePort()}`, '--discovery', 'off']
    const flags = [
      'start',
      '--json',
      '--chain',
      spec,
      '--data-dir',
      data,
      '--http-port',
      '0',
      '--mining',
      'off',
      ...p2p,
    ]
    node.#child = launch(process.execPath, [thisProgram, ...flags])
    node.#url = JSON.parse(await firstLine(node.#child)).url
    return node
  }

  get pid() {
    return this.#child.pid
  }

  /** Asks over a separate connection: the node closes idle ones. */
  async ask(method, ...params) {
    const connection = await this.#connect()
    const answer = JSON.parse(await connection.post(request(method, params)))
    connection.end()
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }

  async #connect() {
    const connection = new Connection(this.#url)
    await connection.opened
    return connection
  }

  async dial(sources) {
    for (const source of sources) await this.ask('admin_addPeer', (await source.ask('admin_nodeInfo')).enode)
  }

  async reaches(source) {
    const connection = await this.#connect()
    const head = await source.ask('eth_blockNumber')
    const body = request('eth_blockNumber', [])
    const end = performance.now() + limitMs
    while (JSON.parse(await connection.post(body)).result !== head) {
      if (performance.now() > end) throw new Error(`no synchronization within ${limitMs / 1000} s`)
      await sleep(20)
    }
    connection.end()
  }

  /** Asks for a balance until `end` resolves. Returns the times. */
  async balances(end) {
    let hasEnded = false
    const ended = end.finally(() => (hasEnded = true))
    const connection = await this.#connect()
    const body = request('eth_getBalance', [sender, 'latest'])
    const times = []
    while (!hasEnded) {
      const began = performance.now()
      await connection.post(body)
      times.push(performance.now() - began)
      await sleep(pausesMs.balance)
    }
    connection.end()
    await ended
    return times
  }

  async stop() {
    if (this.#child.exitCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGTERM')
    await ended
  }
}

function request(method, params) {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function quantile(values, share) {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
