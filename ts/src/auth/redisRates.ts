import type { RedisRunner } from '../redis/connection.ts'
import { type RateStore, type Spending, StoreError } from './store.ts'

/**
 * Updates buckets like `MemoryRates`, by the clock of the server. Each bucket is a hash with `level` and `at` (seconds),
 * which expires when the bucket is full again. Levels are returned as texts: Redis truncates numbers of Lua.
 */
const spend = `
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local levels = {}
for i, key in ipairs(KEYS) do
  local units, rate, burst, room = unpack(ARGV, 4 * i - 3, 4 * i)
  units, rate, burst, room = tonumber(units), tonumber(rate), tonumber(burst), tonumber(room)
  local kept = redis.call('HMGET', key, 'level', 'at')
  local level, at = tonumber(kept[1] or burst), tonumber(kept[2] or now)
  level = math.min(room, level - units + math.max(0, now - at) * rate)
  if level ~= burst then
    redis.call('HSET', key, 'level', string.format('%.17g', level), 'at', string.format('%.6f', now))
    redis.call('PEXPIRE', key, math.ceil(math.min(math.max((burst - level) / rate, 1), 1e9) * 1000))
  elseif kept[1] then
    redis.call('DEL', key)
  end
  levels[i] = string.format('%.17g', level)
end
return levels`

/** The buckets of all nodes, in Redis. */
export class RedisRates implements RateStore {
  readonly #redis: RedisRunner
  readonly #standIn: RateStore | undefined

  /** `standIn` is used while the server is away; without it, `spend` throws then. */
  constructor(redis: RedisRunner, standIn?: RateStore) {
    this.#redis = redis
    this.#standIn = standIn
  }

  async spend(spent: readonly Spending[], now: number): Promise<readonly number[]> {
    try {
      return await this.#spend(spent)
    } catch (error) {
      if (this.#standIn === undefined || !(error instanceof StoreError && error.isAway)) throw error
      return this.#standIn.spend(spent, now)
    }
  }

  async #spend(spent: readonly Spending[]): Promise<readonly number[]> {
    if (spent.length === 0) return []
    const keys = spent.map(({ app }) => `rate:${app}`)
    const terms = spent.flatMap(({ units, unitsPerSecond, burst, room = burst }) => [
      units,
      unitsPerSecond,
      burst,
      room,
    ])
    const levels = await this.#redis.run((redis) => redis.eval(spend, keys.length, ...keys, ...terms))
    return (levels as string[]).map(Number)
  }
}
