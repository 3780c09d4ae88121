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

/** The store in Redis, for a node. Throws StoreError when it is away and the node was not told to go on without. */
export async function openShared(config: Config, address: ServerAddress, limits: FilterLimits): Promise<NodeStore> {
  const { prefix, whenAway } = config.store
  let tell: (health: StoreHealth) => void = () => undefined
  const redis = await RedisConnection.open(address, prefix, (state) => tell({ ...state, whenAway }))
  if (!redis.state.isUp && whenAway === 'closed') {
    redis.close()
    const hint = 'with store.whenAway = "open" a node starts all the same'
    throw new StoreError(`store.url: Redis is away (${redis.state.reason}); ${hint}`, true)
  }
  return {
    service: new RedisStore(redis, whenAway === 'open' ? new MemoryRates() : undefined),
    filters: (chain) => new RedisFilters(redis, chain, limits),
    health: () => ({ ...redis.state, whenAway }),
    onHealth(listener) {
      tell = listener
    },
    close: async () => redis.close(),
  }
}

/** The store in Redis, for a command: it connects when it asks and hangs up at once. */
export function sharedBeside(config: Config, address: ServerAddress): ServiceStore {
  return new RedisStore(redisForOnce(address, config.store.prefix))
}
