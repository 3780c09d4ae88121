import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { describe } from 'vitest'
import { scratchFolder } from './node.ts'

/** The installed server. */
const program = ['valkey-server', 'redis-server']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find(isExecutable)

/** Defines tests that need a server; without a server they are skipped with the reason in their name. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (program === undefined) {
    describe.skip(`${name} (skipped: neither redis-server nor valkey-server is installed)`, tests)
  } else describe(name, tests)
}

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A Redis server on a free loopback port, which stores every write on disk. */
export class RedisProcess {
  readonly port: number
  readonly url: string
  readonly folder: string
  /** A client for checks. */
  readonly client: Redis
  readonly #flags: readonly string[]
  #child: ChildProcess | undefined

  private constructor(port: number, flags: readonly string[], password: string) {
    this.port = port
    this.#flags = flags
    this.folder = scratchFolder()
    this.url = password === '' ? `redis://127.0.0.1:${port}` : `redis://:${password}@127.0.0.1:${port}`
    // A server may start slowly on a busy machine; the tests have their own time limits.
    const patience = { retryStrategy: () => 20, maxRetriesPerRequest: null }
    this.client = new Redis({ port, host: '127.0.0.1', ...(password !== '' && { password }), ...patience })
    this.client.on('error', () => undefined)
  }

  static async start(flags: readonly string[] = [], password = ''): Promise<RedisProcess> {
    const protection = password === '' ? [] : ['--requirepass', password]
    const server = new RedisProcess(await freePort(), [...flags, ...protection], password)
    await server.restart()
    return server
  }

  /** Starts the server again with its data. */
  async restart(): Promise<void> {
    const place = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.folder]
    const keeping = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
    const child = spawn(program ?? '', [...place, ...keeping, ...this.#flags], { stdio: 'ignore' })
    this.#child = child
    children.add(child)
    child.once('exit', () => children.delete(child))
    await this.client.ping()
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async stop(): Promise<void> {
    this.client.disconnect()
    await this.kill()
  }
}

/** Returns a free loopback port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
