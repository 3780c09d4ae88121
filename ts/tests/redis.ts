import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { describe } from 'vitest'
import { freePort } from './freePort.ts'
import { scratchFolder } from './node.ts'
import { ServerProcess } from './serverProcess.ts'

/** The installed server. */
const program = ['valkey-server', 'redis-server']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find(isExecutable)

export const hasRedis = program !== undefined

/** Defines tests that need a server; without a server they are skipped with the reason in their name. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (program === undefined) {
    describe.skip(`${name} (skipped: neither redis-server nor valkey-server is installed)`, tests)
  } else describe(name, tests)
}

/** A Redis server on a free loopback port, which stores every write on disk. */
export class RedisProcess {
  readonly port: number
  readonly url: string
  readonly folder: string
  /** A client for checks. */
  readonly client: Redis
  readonly #flags: readonly string[]
  readonly #process = new ServerProcess()

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
    this.#process.start(program ?? '', [...place, ...keeping, ...this.#flags])
    await this.client.ping()
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    await this.#process.kill()
  }

  async stop(): Promise<void> {
    this.client.disconnect()
    await this.kill()
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
