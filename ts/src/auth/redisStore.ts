import type { RedisRunner } from '../redis/connection.ts'
import { RedisError } from '../redis/error.ts'
import { RedisApps } from './redisApps.ts'
import { RedisRates } from './redisRates.ts'
import { RedisUsage } from './redisUsage.ts'
import { type RateStore, type ServiceStore, StoreError } from './store.ts'

/** The state of the service in Redis, shared by several nodes. Each part throws StoreError. */
export class RedisStore implements ServiceStore {
  readonly apps: RedisApps
  readonly usage: RedisUsage
  readonly rates: RedisRates

  /** `standIn` limits rates while the server is away; without it, rates fail then. */
  constructor(redis: RedisRunner, standIn?: RateStore) {
    const runner: RedisRunner = { run: (work) => redis.run(work).catch(refuse) }
    this.apps = new RedisApps(runner)
    this.usage = new RedisUsage(runner)
    this.rates = new RedisRates(runner, standIn)
  }

  /** Does nothing: every change is written at once. */
  async close(): Promise<void> {}
}

function refuse(error: unknown): never {
  throw error instanceof RedisError ? new StoreError(error.message, error.isAway) : error
}
