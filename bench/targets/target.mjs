// A measured server in a separate process.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const startLimitMs = 60_000

/** Servers to stop at the end of the benchmark. */
const children = new Set()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const folders = new Set()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Creates a folder that is deleted at the end of the benchmark. */
export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `rhizome-bench-${name}-`))
  folders.add(folder)
  return folder
}

/** A running server. `webSocketUrl` is undefined without WebSocket, `child` if this program has not started the server. */
export class Target {
  constructor({ name, url, webSocketUrl, child, startMs, isReference = false, explorerUrl }) {
    this.name = name
    this.url = url
    this.webSocketUrl = webSocketUrl
    this.child = child
    /** Milliseconds from the command to the first answer. */
    this.startMs = startMs
    /** Whether it is the reference node. */
    this.isReference = isReference
    /** URL of the explorer of this node, if it is served. */
    this.explorerUrl = explorerUrl
  }

  /** Processor time of the process in milliseconds; undefined if unknown. */
  get processorMs() {
    const fields = this.#proc('stat')
      ?.replace(/^.*\) /s, '')
      .split(' ')
    // Linux reports ticks of 10 ms.
    return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10
  }

  /** Resident memory in KiB. */
  get memoryKib() {
    return Number(/VmRSS:\s+(\d+)/.exec(this.#proc('status') ?? '')?.[1] ?? Number.NaN)
  }

  async stop() {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), 5000)
    await ended
    clearTimeout(force)
  }

  #proc(file) {
    if (this.child === undefined) return undefined
    try {
      return readFileSync(`/proc/${this.child.pid}/${file}`, 'utf8')
    } catch {
      return undefined
    }
  }
}

/** Starts a program and keeps its error output for the message of an early end. */
export function launch(command, parameters, env = {}) {
  const child = spawn(command, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  children.add(child)
  child.on('close', () => children.delete(child))
  child.on('error', (error) => {
    child.failure = error.message
  })
  child.errors = ''
  child.stderr.on('data', (bytes) => {
    child.errors = `${child.errors}${bytes}`.slice(-2000)
  })
  return child
}

/** Waits for the first line that a program prints. */
export async function firstLine(child) {
  let text = ''
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      text += bytes
      if (text.includes('\n')) resolve()
    })
    child.once('close', () => reject(new Error(`it ended at once: ${child.failure ?? child.errors}`)))
  })
  return text.slice(0, text.indexOf('\n'))
}

/** Waits until a server answers. */
export async function answers(url, child) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
  const headers = { 'content-type': 'application/json' }
  const end = performance.now() + startLimitMs
  while (performance.now() < end) {
    if (child !== undefined && (child.exitCode !== null || child.failure !== undefined))
      throw new Error(`it ended at once: ${child.failure ?? child.errors}`)
    try {
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  throw new Error(`${url} does not answer`)
}

/** Returns a free port, for programs that do not report their port. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
