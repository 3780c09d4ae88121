import { MemoryRates } from './auth/bucket.ts'
import { RedisStore } from './auth/redisStore.ts'
import { type ServiceStore, StoreError } from './auth/store.ts'
import type { Config } from './config/schema.ts'
import type { ServerAddress } from './config/storeUrl.ts'
import { RedisFilters } from './filters/redisStore.ts'
import type { FilterLimits } from './filters/store.ts'
import type { StoreHealth } from './observe/health.ts'
import { RedisConnection, redisForOnce } from './redis/connection.ts'
import type { NodeStore } from './serviceStore.ts'

/** Opens the store in Redis for a node. Throws StoreError if it is away, unless `store.whenAway` is `open`. */
export async function openShared(config: Config, address: ServerAddress, limits: FilterLimits): Promise<NodeStore> {
  const { prefix, whenAway } = config.store
  let notify: (health: StoreHealth) => void = () => undefined
  const redis = await RedisConnection.open(address, prefix, (state) => notify({ ...state, whenAway }))
  if (!redis.state.isUp && whenAway === 'closed') {
    redis.close()
    const hint = 'store.whenAway = "open" lets the node start without it'
    throw new StoreError(`store.url: Redis is away (${redis.state.reason}); ${hint}`, true)
  }
  return {
    service: new RedisStore(redis, whenAway === 'open' ? new MemoryRates() : undefined),
    filters: (chain) => new RedisFilters(redis, chain, limits),
    health: () => ({ ...redis.state, whenAway }),
    onHealth(listener) {
      notify = listener
    },
    close: async () => redis.close(),
  }
}

/** Opens the store in Redis for a command: connects for each access and disconnects after it. */
export function sharedBeside(config: Config, address: ServerAddress): ServiceStore {
  return new RedisStore(redisForOnce(address, config.store.prefix))
}
