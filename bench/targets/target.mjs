// A server that is measured, in a process of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const startLimitMs = 60_000

/** No server outlives the benchmark, whatever becomes of it. */
const children = new Set()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const folders = new Set()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder for files that are gone when the benchmark has ended. */
export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `rhizome-bench-${name}-`))
  folders.add(folder)
  return folder
}

/** A running server. `webSocketUrl` is undefined where there is no WebSocket, `pid` where it is not ours. */
export class Target {
  constructor({ name, url, webSocketUrl, child, startMs, isReference = false }) {
    this.name = name
    this.url = url
    this.webSocketUrl = webSocketUrl
    this.child = child
    /** From the command to the first answer. */
    this.startMs = startMs
    /** Whether it is the node that we want to be as exact as. */
    this.isReference = isReference
  }

  /** Processor time that the process has used, in milliseconds; undefined where it cannot be known. */
  get processorMs() {
    const fields = this.#proc('stat')
      ?.replace(/^.*\) /s, '')
      .split(' ')
    // In ticks of a hundredth of a second on every Linux.
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

/** Starts a program; its errors are kept for the message when it ends early. */
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

/** The first line that a program prints. */
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

/** Resolves when a server answers. */
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

/** A port that was free a moment ago, for programs that cannot say which one they took. */
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
