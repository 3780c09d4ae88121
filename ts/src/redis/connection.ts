import { Redis, type RedisOptions } from 'ioredis'
import type { ServerAddress } from '../config/storeUrl.ts'
import { failureOf, RedisError } from './error.ts'

/** Nothing that waits for the server waits longer. */
const commandTimeoutMs = 1000
const connectTimeoutMs = 2000
const probeMs = 250
const longestPauseMs = 2000

/** Sends commands to the server that nodes share. */
export interface RedisRunner {
  /** `work` sends commands and does nothing else. Throws RedisError; while the server is away at once. */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>
}

/** Whether the server does its work: it answers, and it takes writes. */
export interface RedisState {
  readonly isUp: boolean
  /** In milliseconds since 1970. */
  readonly since: number
  /** Why it is away, in a word that holds no secret; empty while it is not. */
  readonly reason: string
}

/**
 * A node's connection. A probe that writes goes round all the time; once it fails, or the line does, commands are refused
 * at once instead of waiting one after the other, until a probe succeeds again. It is never given up.
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
    this.#redis.on('error', (error) => this.#leave(failureOf(error).reason))
    this.#redis.on('close', () => {
      if (this.#state.isUp) this.#leave('connection lost')
    })
    this.#redis.on('ready', () => void this.#probe())
  }

  /** Resolves when the server has been tried once, whatever came of it. Later changes are told to `onChange`. */
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
      if (!this.#state.isUp) this.#enter({ isUp: true, since: Date.now(), reason: '' })
    } catch (error) {
      const { reason } = failureOf(error)
      this.#leave(reason)
      // After a failover the address may lead to the new primary.
      if (reason === 'READONLY' && performance.now() - this.#reconnectedMs > longestPauseMs) {
        this.#reconnectedMs = performance.now()
        this.#redis.disconnect(true)
      }
    }
  }

  #leave(reason: string): void {
    const { isUp, since } = this.#state
    if (this.#isClosed || (!isUp && reason === this.#state.reason)) return
    this.#enter({ isUp: false, since: isUp ? Date.now() : since, reason })
  }

  #enter(state: RedisState): void {
    this.#state = state
    this.#onChange(state)
  }
}

/** Connects for one piece of work at a time, as commands do that end afterwards. */
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

/** The library would go on in another database when this one does not exist. */
async function choose(redis: Redis, database: number): Promise<void> {
  if (database !== 0) await redis.select(database)
}

function optionsOf({ hasTls, database: _chosenLater, ...place }: ServerAddress, keyPrefix: string) {
  return {
    ...place,
    ...(hasTls && { tls: place.host === undefined ? {} : { servername: place.host } }),
    keyPrefix,
    lazyConnect: true,
    // What cannot be sent now is refused; what was sent on a line that broke is not sent again: it may have been done.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: 2 * commandTimeoutMs,
  } satisfies RedisOptions
}
