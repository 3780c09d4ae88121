import type { RedisConnection } from '../redis/connection.ts'
import { RedisApps } from './redisApps.ts'
import { RedisRates } from './redisRates.ts'
import { RedisUsage } from './redisUsage.ts'
import type { ServiceStore, StoreStatus } from './store.ts'

/** Everything in Redis, for several nodes. */
export class RedisStore implements ServiceStore {
  readonly apps: RedisApps
  readonly usage: RedisUsage
  readonly rates: RedisRates
  readonly #connection: RedisConnection

  constructor(connection: RedisConnection) {
    this.#connection = connection
    this.apps = new RedisApps(connection)
    this.usage = new RedisUsage(connection)
    this.rates = new RedisRates(connection)
  }

  status(): StoreStatus {
    return this.#connection.state
  }

  /** Nothing waits here to be written. */
  async close(): Promise<void> {
    this.#connection.close()
  }
}
