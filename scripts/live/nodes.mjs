// Nodes of both kinds in processes, with peers, driven over JSON-RPC on kept connections.
import { spawn } from 'node:child_process'
import { createECDH, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, SetupError } from '../setup/run.mjs'
import { root } from '../setup.mjs'

const startLimitMs = 120_000

/** A node in a process. */
export class LiveNode {
  #child
  #folder = mkdtempSync(join(tmpdir(), 'rhizome-live-'))
  #agent = new Agent({ keepAlive: true })
  #http
  #settings = {}
  #key = randomBytes(32).toString('hex')
  name
  enode

  /** Starts a reference node. `settings`: further settings. */
  static async reference(program, peers = [], settings = {}) {
    const node = new LiveNode('reference')
    const port = await node.#ports()
    const all = {
      'database.dir': join(node.#folder, 'database'),
      'rpc.providers.web.http.port': node.#http,
      'rpc.providers.web.ws.enabled': false,
      'peer.port': port,
      'peer.privateKey': node.#key,
      bind_address: '127.0.0.1',
      'public.ip': '127.0.0.1',
      'miner.client.enabled': false,
      'peer.discovery.enabled': false,
      ...Object.fromEntries(peers.map((peer, index) => [`peer.active.${index}.url`, peer])),
      ...settings,
    }
    const options = Object.entries(all).map(([name, value]) => `-D${name}=${value}`)
    const env = { ...process.env, JAVA_OPTS: `-Xmx1500m ${options.join(' ')}`, RSKJ_LOGS: join(node.#folder, 'logs') }
    return node.#start(program, ['--regtest'], env)
  }

  /** Starts a node of this project. `settings`: further settings, as environment variables. */
  static async own(peers = [], flags = [], settings = {}) {
    const node = new LiveNode('rhizome')
    node.#settings = settings
    const port = await node.#ports()
    const base = ['start', '--network', 'regtest', '--data-dir', join(node.#folder, 'data'), '--mining', 'off']
    const p2p = ['--http-port', node.#http, '--p2p-port', port, '--node-key', node.#key, '--discovery', 'off']
    const dialled = peers.length > 0 ? ['--peers', peers.join(',')] : []
    const all = [join(root, 'ts/rhizome.mjs'), ...base, ...p2p, ...dialled, ...flags].map(String)
    return node.#start(process.execPath, all, { ...process.env, ...settings })
  }

  /** Starts a node of this project that is a fork of another, with a cache in `cacheDir`. */
  static async fork(url, number, cacheDir) {
    const node = new LiveNode('fork')
    await node.#ports()
    const flags = ['start', '--fork', url, '--fork-block', number, '--http-port', node.#http]
    const all = [join(root, 'ts/rhizome.mjs'), ...flags].map(String)
    const settings = { RHIZOME_COMPAT: 'reference', RHIZOME_FORK_CACHE_DIR: cacheDir }
    return node.#start(process.execPath, all, { ...process.env, ...settings })
  }

  constructor(name) {
    this.name = name
  }

  get url() {
    return `http://127.0.0.1:${this.#http}`
  }

  async #ports() {
    const [http, port] = await freePorts(2)
    this.#http = http
    const curve = createECDH('secp256k1')
    curve.setPrivateKey(this.#key, 'hex')
    // Without the prefix of an uncompressed point.
    this.enode = `enode://${curve.getPublicKey('hex').slice(2)}@127.0.0.1:${port}`
    return port
  }

  async #start(program, parameters, env) {
    const output = openSync(join(this.#folder, 'output'), 'a')
    this.#child = spawn(program, parameters, { stdio: ['ignore', output, output], env })
    this.#child.on('error', () => undefined)
    const until = performance.now() + startLimitMs
    while (performance.now() < until && this.#child.exitCode === null) {
      if ((await this.ask('eth_blockNumber').catch(() => undefined)) !== undefined) return this
      await sleep(100)
    }
    throw new SetupError(`${program} does not serve JSON-RPC; its output is in ${this.#folder}`)
  }

  /** Returns result or error of a method. */
  async answer(method, ...params) {
    const { result, error } = await this.#post({ jsonrpc: '2.0', id: 1, method, params })
    return error === undefined ? { result } : { error }
  }

  /** Returns the result of a method. */
  async ask(method, ...params) {
    const answer = await this.#post({ jsonrpc: '2.0', id: 1, method, params })
    if (answer.error !== undefined) throw new SetupError(`${this.name}: ${method}: ${answer.error.message}`)
    return answer.result
  }

  async number() {
    return Number(await this.ask('eth_blockNumber'))
  }

  async head() {
    return (await this.ask('eth_getBlockByNumber', 'latest', false)).hash
  }

  async mine(count) {
    for (let done = 0; done < count; done += 50) {
      const size = Math.min(50, count - done)
      await this.#post(
        Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id, method: 'evm_mine', params: [] })),
      )
    }
  }

  #post(body) {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const options = { host: '127.0.0.1', port: this.#http, method: 'POST', agent: this.#agent, headers }
    return new Promise((resolve, reject) => {
      const call = request(options, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()))
          } catch (error) {
            reject(error)
          }
        })
      })
      call.on('error', reject)
      call.end(text)
    })
  }

  /** Whether the node has made a snapshot of a state for peers. */
  hasSnapshot() {
    const folder = join(this.#folder, 'data', 'snapshots')
    return existsSync(folder) && readdirSync(folder).some((name) => /^[0-9]/.test(name))
  }

  /** Ends the node of this project, executes its blocks again, and compares its state with the trie. */
  async verify(from, to) {
    await this.#end()
    const place = ['--network', 'regtest', '--data-dir', join(this.#folder, 'data')]
    const command = ['verify', ...place, '--from', String(from), '--to', String(to), '--state']
    const env = { ...process.env, ...this.#settings }
    await run(process.execPath, [join(root, 'ts/rhizome.mjs'), ...command], { cwd: root, env })
  }

  async #end() {
    if (this.#child.exitCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGTERM')
    await Promise.race([ended, sleep(15_000).then(() => this.#child.kill('SIGKILL'))])
  }

  async stop() {
    this.#agent.destroy()
    await this.#end()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Runs `work` with the nodes that it starts, and stops them. */
export async function withNodes(work) {
  const nodes = []
  const started = async (node) => {
    nodes.push(await node)
    return nodes.at(-1)
  }
  try {
    return await work(started)
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

/** Waits until `look` returns true. Returns the milliseconds. */
export async function until(what, limitMs, look, everyMs = 5) {
  const start = performance.now()
  while (!(await look())) {
    if (performance.now() - start > limitMs) throw new SetupError(`waited ${limitMs / 1000} s for ${what}`)
    await sleep(everyMs)
  }
  return performance.now() - start
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
