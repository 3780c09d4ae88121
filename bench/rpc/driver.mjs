// The load generator: a small native program (../load) that is built when it is needed.
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
/** Before a command: it runs as soon as it has something to do. */
const first = ['chrt', '--fifo', '1']
/** Before a command: it waits for a processor that is free, and takes none from a thread of the server that is at work. */
const patient = ['chrt', '--batch', '0']
/** Before a command: it runs only while a processor has nothing else to do. */
const background = ['chrt', '--idle', '0']
const allowed = new Map()

/** Builds the generator; cargo sees when nothing has changed. */
export function buildDriver() {
  const parameters = ['build', '--release', '--locked', '--quiet', '--target-dir', builds]
  if (outputOf('cargo', parameters, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }) === undefined)
    throw new Error(`the load generator cannot be built: cargo build in ${folder} failed`)
}

/** Requests and the answers that have to come back, in a file for the generator. */
export class Plan {
  #folder = mkdtempSync(join(tmpdir(), 'rhizome-bench-plan-'))
  #file = join(this.#folder, 'plan')

  /** `entries` have path, status, request and answer; nine `@` stand for an id. */
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

/** The command of the generator, which shares the processors with the server, behind a prefix if the system allows that. */
function generator(prefix) {
  if (!allowed.has(prefix)) allowed.set(prefix, spawnSync(prefix[0], [...prefix.slice(1), 'true']).status === 0)
  return allowed.get(prefix) ? [...prefix, program] : [program]
}

/** Where the generator connects to, and how. */
function flagsOf(url) {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  const address = `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port || 80}`
  return ['--address', address, '--host', host, ...(protocol === 'ws:' ? ['--websocket', `${pathname}${search}`] : [])]
}

/**
 * Drives a server, over HTTP or WebSocket. Resolves with counts of right, wrong and lost answers, seconds, and times in
 * microseconds.
 */
export async function drive(
  url,
  plan,
  { connections = 32, timeMs = 1000, pauseMs = 0, patienceMs = 30_000, isOnce, isBackground },
) {
  const numbers = [
    '--connections',
    connections,
    '--time-ms',
    timeMs,
    '--pause-ms',
    pauseMs,
    '--patience-ms',
    patienceMs,
  ]
  // One that asks at a steady pace sleeps nearly always. The times are to be the server's, not those of waiting for a
  // processor: as if it were on another machine.
  const prefix = isBackground ? background : pauseMs > 0 ? first : patient
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
 * Subscribes to new heads on many connections, then calls `trigger` for one block after the other: each time all have to be
 * told. Resolves with counts of right, wrong and lost messages, the seconds from the triggers to their last messages, and
 * times in microseconds.
 */
export async function driveSubscribers(url, trigger, { connections, blocks, patienceMs = 10_000 }) {
  const numbers = ['--connections', `${connections}`, '--patience-ms', `${patienceMs}`]
  const [command, ...before] = generator(patient)
  const child = spawn(command, [...before, ...flagsOf(url), '--subscribe', ...numbers])
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  // When it has ended that is seen in what it says.
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
      await Promise.all([trigger(), expect('told')])
    }
    child.stdin.end()
    return JSON.parse(await next())
  } finally {
    child.kill()
    await ended
  }
}
