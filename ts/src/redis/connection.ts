import { Redis, type RedisOptions } from 'ioredis'
import type { ServerAddress } from '../config/storeUrl.ts'
import { failureOf, RedisError } from './error.ts'

/** Longest time of a command. */
const commandTimeoutMs = 1000
const connectTimeoutMs = 2000
const probeMs = 250
const longestPauseMs = 2000

/** Sends commands to the shared server. */
export interface RedisRunner {
  /** Runs `work`, which must only send commands. Throws RedisError, at once while the server is away. */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>
}

/** Whether the server answers and accepts writes. */
export interface RedisState {
  readonly isUp: boolean
  /** Start of this state, in milliseconds since 1970. */
  readonly since: number
  /** Why the server is away, without secrets; empty while it is up. */
  readonly reason: string
}

/**
 * The connection of a node to Redis. A periodic probe writes a key. When the probe or the connection fails, commands are
 * refused at once, instead of each waiting for its timeout, until a probe succeeds. Reconnecting never ends.
 */
export class RedisConnection implements RedisRunner {
  readonly #redis: Redis
  readonly #onChange: (state: RedisState) => void
  #state: RedisState = { isUp: false, since: Date.now(), reason: 'not connected' }
  #timer: NodeJS.Timeout | undefined
  #probing: Promise<void> | undefined
  #reconnectedMs = 0
  #isClosed = false

  readonly #database: number

  private constructor(address: ServerAddress, prefix: string, onChange: (state: RedisState) => void) {
    this.#onChange = onChange
    this.#database = address.database
    this.#redis = new Redis({
      ...optionsOf(address, prefix),
      retryStrategy: (attempts) => Math.min(25 * 2 ** attempts, longestPauseMs),
    })
    this.#redis.on('error', (error) => this.#setAway(failureOf(error).reason))
    this.#redis.on('close', () => {
      if (this.#state.isUp) this.#setAway('connection lost')
    })
    this.#redis.on('ready', () => void this.#probe())
  }

  /** Connects, and resolves after the first attempt, also when it failed. `onChange` is called with later states. */
  static async open(
    address: ServerAddress,
    prefix: string,
    onChange: (state: RedisState) => void,
  ): Promise<RedisConnection> {
    const connection = new RedisConnection(address, prefix, onChange)
    await connection.#redis.connect().catch(() => undefined)
    await connection.#probe()
    connection.#schedule()
    return connection
  }

  get state(): RedisState {
    return this.#state
  }

  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.#state.isUp) throw new RedisError(true, this.#state.reason)
    try {
      return await work(this.#redis)
    } catch (error) {
      throw failureOf(error)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#redis.disconnect()
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.#probe()
      if (!this.#isClosed) this.#schedule()
    }, probeMs).unref()
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#probeOnce().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  async #probeOnce(): Promise<void> {
    if (this.#redis.status !== 'ready' || this.#isClosed) return
    try {
      await choose(this.#redis, this.#database)
      await this.#redis.set('probe', '1', 'PX', 60_000)
      if (!this.#state.isUp) this.#setState({ isUp: true, since: Date.now(), reason: '' })
    } catch (error) {
      const { reason } = failureOf(error)
      this.#setAway(reason)
      // After a failover a new connection to the same address may reach the new primary.
      if (reason === 'READONLY' && performance.now() - this.#reconnectedMs > longestPauseMs) {
        this.#reconnectedMs = performance.now()
        this.#redis.disconnect(true)
      }
    }
  }

  #setAway(reason: string): void {
    const { isUp, since } = this.#state
    if (this.#isClosed || (!isUp && reason === this.#state.reason)) return
    this.#setState({ isUp: false, since: isUp ? Date.now() : since, reason })
  }

  #setState(state: RedisState): void {
    this.#state = state
    this.#onChange(state)
  }
}

/** Returns a runner for commands of the CLI: connects for each piece of work and disconnects after it. */
export function redisForOnce(address: ServerAddress, prefix: string): RedisRunner {
  return {
    async run(work) {
      const redis = new Redis({ ...optionsOf(address, prefix), retryStrategy: null })
      let cause: unknown
      redis.on('error', (error) => {
        cause ??= error
      })
      try {
        await redis.connect()
        await choose(redis, address.database)
        return await work(redis)
      } catch (error) {
        throw failureOf(cause ?? error)
      } finally {
        redis.disconnect()
      }
    },
  }
}

/** Selects the database. The library would silently stay in another database if this one does not exist. */
async function choose(redis: Redis, database: number): Promise<void> {
  if (database !== 0) await redis.select(database)
}

function optionsOf({ hasTls, database: _selectedLater, ...target }: ServerAddress, keyPrefix: string) {
  return {
    ...target,
    ...(hasTls && { tls: target.host === undefined ? {} : { servername: target.host } }),
    keyPrefix,
    lazyConnect: true,
    // A command that cannot be sent is refused. A command whose connection broke is not sent again: it may have been executed.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: 2 * commandTimeoutMs,
  } satisfies RedisOptions
}
