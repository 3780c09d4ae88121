// A node of this project with a listener for peers, in a separate process.
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../growth/connection.mjs'
import { firstLine, freePort, launch } from '../targets/target.mjs'

const thisProgram = new URL('../../ts/rhizome.mjs', import.meta.url).pathname
const limitMs = 600_000
/** Pause between two measured requests. */
const pauseMs = 5

export class SyncNode {
  #child
  #url

  /** Starts a node; `more` are flags beside those of the chain, `env` its settings. */
  static async start(spec, data, more = [], env = {}) {
    const node = new SyncNode()
    const chain = ['--chain', spec, '--data-dir', data, '--http-port', '0', '--mining', 'off']
    const p2p = ['--p2p-host', '127.0.0.1', '--p2p-port', `${await freePort()}`, '--discovery', 'off']
    node.#child = launch(process.execPath, [thisProgram, 'start', '--json', ...chain, ...p2p, ...more], env)
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

  /** Resolves when the node has the height of a source. */
  async reaches(source) {
    await this.isAbove(Number(await source.ask('eth_blockNumber')) - 1)
  }

  /** Resolves when the head is above a height. */
  async isAbove(height) {
    const connection = await this.#connect()
    const body = request('eth_blockNumber', [])
    const end = performance.now() + limitMs
    while (Number(JSON.parse(await connection.post(body)).result) <= height) {
      if (performance.now() > end) throw new Error(`no synchronization within ${limitMs / 1000} s`)
      await sleep(20)
    }
    connection.end()
  }

  /** Repeats a request until `end` resolves. Returns the times of the answers in ms. */
  async times(end, method, ...params) {
    let hasEnded = false
    const ended = end.finally(() => (hasEnded = true))
    const connection = await this.#connect()
    const body = request(method, params)
    const times = []
    while (!hasEnded) {
      const began = performance.now()
      await connection.post(body)
      times.push(performance.now() - began)
      await sleep(pauseMs)
    }
    connection.end()
    await ended
    return times
  }

  async stop(signal = 'SIGTERM') {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill(signal)
    await ended
  }
}

function request(method, params) {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

export function quantile(values, share) {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
