// Runs the load generator, a native program (../load), and builds it if needed.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { outputOf } from '../../scripts/setup/run.mjs'

const folder = fileURLToPath(new URL('../load', import.meta.url))
const builds = fileURLToPath(new URL('../../target/load', import.meta.url))
const program = join(builds, 'release', process.platform === 'win32' ? 'rhizome-load.exe' : 'rhizome-load')
const runFile = promisify(execFile)
/** Command prefix: runs before all other programs. */
const realTime = ['chrt', '--fifo', '1']
/** Command prefix: never displaces a running thread of the server. */
const batch = ['chrt', '--batch', '0']
/** Command prefix: runs only on an idle processor. */
const background = ['chrt', '--idle', '0']
const allowed = new Map()

/** Builds the generator if its sources have changed. */
export function buildDriver() {
  const parameters = ['build', '--release', '--locked', '--quiet', '--target-dir', builds]
  if (outputOf('cargo', parameters, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }) === undefined)
    throw new Error(`the load generator cannot be built: cargo build in ${folder} failed`)
}

/** Requests and their expected answers, in a file for the generator. */
export class Plan {
  #folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-plan-'))
  #file = join(this.#folder, 'plan')

  /** `entries` have path, status, request and answer, with nine `@` in place of an id. */
  constructor(entries) {
    const pieces = entries.map(({ path = '/', status = 200, request, answer }) => {
      const body = Buffer.from(`${request}${answer}`)
      const length = Buffer.byteLength(request)
      return Buffer.concat([Buffer.from(`${path} ${status} ${length} ${body.length - length}\n`), body])
    })
    writeFileSync(this.#file, Buffer.concat(pieces))
  }

  get file() {
    return this.#file
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Command of the generator, with the prefix if the system permits it. */
function generator(prefix) {
  if (!allowed.has(prefix)) allowed.set(prefix, spawnSync(prefix[0], [...prefix.slice(1), 'true']).status === 0)
  return allowed.get(prefix) ? [...prefix, program] : [program]
}

/** Flags for the address and protocol of the server. */
function flagsOf(url) {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  const address = `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port || 80}`
  return ['--address', address, '--host', host, ...(protocol === 'ws:' ? ['--websocket', `${pathname}${search}`] : [])]
}

/**
 * Sends the requests of a plan over HTTP or WebSocket. Resolves with counts of right, wrong and lost answers, seconds, and times in
 * microseconds.
 */
export async function drive(
  url,
  plan,
  { connections = 32, timeMs = 1000, pauseMs = 0, timeoutMs = 30_000, isOnce, isBackground },
) {
  const numbers = ['--connections', connections, '--time-ms', timeMs, '--pause-ms', pauseMs, '--timeout-ms', timeoutMs]
  // At a steady pace the generator is mostly idle. It runs first, so that the times do not
  // include its wait for a processor.
  const prefix = isBackground ? background : pauseMs > 0 ? realTime : batch
  const [command, ...before] = generator(prefix)
  const { stdout } = await runFile(command, [
    ...before,
    ...flagsOf(url),
    '--plan',
    plan.file,
    ...numbers.map(String),
    ...(isOnce ? ['--once'] : []),
  ])
  return JSON.parse(stdout)
}

/**
 * Subscribes to new heads on many connections, then calls `trigger` for each block and waits until all subscribers have its
 * head. Resolves with counts of right, wrong and lost messages, the seconds from the triggers to their last messages, and
 * times in microseconds.
 */
export async function driveSubscribers(url, trigger, { connections, blocks, timeoutMs = 10_000 }) {
  const numbers = ['--connections', `${connections}`, '--timeout-ms', `${timeoutMs}`]
  const [command, ...before] = generator(batch)
  const child = spawn(command, [...before, ...flagsOf(url), '--subscribe', ...numbers])
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  // The end of the generator is detected by its output.
  child.stdin.on('error', () => undefined)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (!done) return value
    await ended
    throw new Error(`the load generator ended: ${errors.trim()}`)
  }
  const expect = async (wanted) => {
    const line = await next()
    if (line !== wanted) throw new Error(`the load generator said ${line}, expected ${wanted}`)
  }
  try {
    await expect('ready')
    for (let block = 0; block < blocks; block++) {
      child.stdin.write('\n')
      await expect('listening')
      await Promise.all([trigger(), expect('received')])
    }
    child.stdin.end()
    return JSON.parse(await next())
  } finally {
    child.kill()
    await ended
  }
}
