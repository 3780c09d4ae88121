// A reference node on its regtest network, in a separate process. The program that starts it takes rskj's arguments;
// JAVA_OPTS has its settings as -Dname=value, MAIN names another main class, RSKJ_LOGS the folder for its log.
import { spawn } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupError } from '../setup/run.mjs'

const startLimitMs = 120_000
/** Most requests that the reference takes at once. */
const batchLength = 50
const modules = ['eth', 'net', 'rpc', 'web3', 'evm', 'txpool', 'debug', 'trace']

export class Reference {
  #program
  #folder
  #settings
  #child
  url

  /** `rules`: activation heights of single rules; undefined: those of the network. */
  constructor(program, folder, rules) {
    this.#program = program
    this.#folder = folder
    this.#settings = join(folder, 'reference.conf')
    const heights = Object.entries(rules ?? {}).map(([rule, height]) => `${rule} = ${height}`)
    writeFileSync(
      this.#settings,
      `public.ip = "127.0.0.1"
bind_address = "127.0.0.1"
peer.discovery.enabled = false
transaction.accountTxRateLimit.enabled = false
miner { server { isFixedClock = true }, client { enabled = false, autoMine = false } }
rpc.timeout = 0
rpc.modules { ${modules.map((name) => `${name} { version: "1.0", enabled: "true" }`).join(', ')} }
blockchain.config.consensusRules { ${heights.join(', ')} }
`,
    )
  }

  async start() {
    const [http, webSocket, peer] = await freePorts(3)
    this.url = `http://127.0.0.1:${http}`
    const ports = { 'rpc.providers.web.http.port': http, 'rpc.providers.web.ws.port': webSocket, 'peer.port': peer }
    this.#child = this.#spawn([], ports)
    const until = performance.now() + startLimitMs
    while (performance.now() < until && this.#child.exitCode === null) {
      const answer = await this.ask('eth_blockNumber', []).catch(() => undefined)
      if (answer?.result !== undefined) return
      await sleep(250)
    }
    await this.stop()
    throw new SetupError(`${this.#program} does not serve JSON-RPC; its output is in ${this.#folder}`)
  }

  /** Returns the whole answer of a method. */
  async ask(method, params) {
    return this.#post({ jsonrpc: '2.0', id: 1, method, params })
  }

  /** Returns the whole answers of several requests: `[method, parameters]`. */
  async askAll(requests) {
    const answers = []
    for (let start = 0; start < requests.length; start += batchLength) {
      const batch = requests.slice(start, start + batchLength)
      answers.push(...(await this.#post(batch.map(([method, params]) => ({ jsonrpc: '2.0', id: 1, method, params })))))
    }
    return answers
  }

  async stop() {
    if (this.#child?.exitCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGTERM')
    await ended
  }

  /** Writes the blocks up to `height` to a file. The node must be stopped. */
  async export(file, height) {
    const range = ['--fromBlock', '0', '--toBlock', String(height), '--file', file]
    const child = this.#spawn(range, {}, { MAIN: 'co.rsk.cli.tools.ExportBlocks' })
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (code !== 0) throw new SetupError(`${this.#program} does not export blocks; its output is in ${this.#folder}`)
  }

  /** Connects the blocks of a file to the chain. Returns false if one of them cannot be decoded. The node must be stopped. */
  async connect(file) {
    const child = this.#spawn(['--file', file], {}, { MAIN: 'co.rsk.cli.tools.ConnectBlocks' })
    return (await new Promise((resolve) => child.once('close', resolve))) === 0
  }

  async #post(content) {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(this.url, { method: 'POST', headers, body: JSON.stringify(content) })).json()
  }

  #spawn(parameters, ports, more = {}) {
    const settings = { 'rsk.conf.file': this.#settings, 'database.dir': join(this.#folder, 'database'), ...ports }
    const options = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
    const env = { ...process.env, JAVA_OPTS: options.join(' '), RSKJ_LOGS: join(this.#folder, 'logs'), ...more }
    const output = openSync(join(this.#folder, 'output'), 'a')
    const child = spawn(this.#program, ['--regtest', ...parameters], { stdio: ['ignore', output, output], env })
    child.on('error', () => undefined)
    return child
  }
}

/** Returns free ports of this machine. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
