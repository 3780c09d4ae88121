import { Compile } from 'typebox/compile'
import type { RedisRunner } from '../redis/connection.ts'
import { RedisError } from '../redis/error.ts'
import { unavailable } from '../rpc/errors.ts'
import { jsonIn } from '../rpc/jsonText.ts'
import { Places } from '../rpc/places.ts'
import { newId } from './newId.ts'
import {
  blockSchema,
  blockSeenSchema,
  type Filter,
  type FilterLimits,
  type FilterStore,
  logSchema,
  logSeenSchema,
  pendingSchema,
  pendingSeenSchema,
  type StoredFilter,
  tooManyFilters,
} from './store.ts'

const checks = [
  { filter: Compile(logSchema), seen: Compile(logSeenSchema) },
  { filter: Compile(blockSchema), seen: Compile(blockSeenSchema) },
  { filter: Compile(pendingSchema), seen: Compile(pendingSeenSchema) },
]

// KEYS: the index (ids by expiry) and the hash of one filter. Each client has an index, too, named in the hash.
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`

/** ARGV: id, filter, seen, expiry, maximum, client, share. Returns 0 if there are too many, -1 if the client has too many. */
const add = `${now}
local own = KEYS[1] .. ':' .. ARGV[6]
for _, index in ipairs({KEYS[1], own}) do redis.call('ZREMRANGEBYSCORE', index, '-inf', now) end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then return 0 end
if redis.call('ZCARD', own) >= tonumber(ARGV[7]) then return -1 end
for _, index in ipairs({KEYS[1], own}) do redis.call('ZADD', index, now + ARGV[4], ARGV[1]) end
redis.call('PEXPIRE', own, ARGV[4])
redis.call('HSET', KEYS[2], 'filter', ARGV[2], 'seen', ARGV[3], 'client', ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1`

/** ARGV: id, expiry. */
const find = `${now}
local found = redis.call('HMGET', KEYS[2], 'filter', 'seen', 'client')
if found[1] then
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
end
if found[3] then
  redis.call('ZADD', KEYS[1] .. ':' .. found[3], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1] .. ':' .. found[3], ARGV[2])
end
return found`

/** ARGV: from, to. */
const advance = `
if redis.call('HGET', KEYS[1], 'seen') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[2])
return 1`

/** ARGV: id. */
const remove = `
local client = redis.pcall('HGET', KEYS[2], 'client')
if type(client) == 'string' then redis.call('ZREM', KEYS[1] .. ':' .. client, ARGV[1]) end
redis.call('ZREM', KEYS[1], ARGV[1])
return redis.call('DEL', KEYS[2])`

/** A stored filter is malformed. */
class DamagedFilter extends Error {
  override name = 'DamagedFilter'
}

/** Filters in Redis, shared by all nodes of a chain. */
export class RedisFilters implements FilterStore {
  readonly #redis: RedisRunner
  readonly #chain: string
  readonly #limits: FilterLimits

  /** `chain` separates chains that share a server: the hash of the genesis block. */
  constructor(redis: RedisRunner, chain: string, limits: FilterLimits) {
    this.#redis = redis
    this.#chain = chain
    this.#limits = limits
  }

  async add({ filter, seen }: StoredFilter, client: string): Promise<string> {
    const id = newId()
    const { expiryMs, maximum } = this.#limits
    const { share } = new Places(maximum)
    const parts = [id, JSON.stringify(filter), seen, expiryMs, maximum, client, share]
    const added = await this.#run((redis) => redis.eval(add, 2, this.#index, this.#place(id), ...parts))
    if (added !== 1) throw tooManyFilters(maximum, added === -1 ? share : undefined)
    return id
  }

  async find(id: string): Promise<StoredFilter | undefined> {
    const { expiryMs } = this.#limits
    const found = await this.#run((redis) => redis.eval(find, 2, this.#index, this.#place(id), id, expiryMs))
    const [filter, seen] = found as (string | null)[]
    return filter == null ? undefined : checked(filter, seen ?? '')
  }

  async advance(id: string, from: string, to: string): Promise<boolean> {
    return (await this.#run((redis) => redis.eval(advance, 1, this.#place(id), from, to))) === 1
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#run((redis) => redis.eval(remove, 2, this.#index, this.#place(id), id))) === 1
  }

  async count(): Promise<number> {
    return this.#run((redis) => redis.zcount(this.#index, Date.now(), '+inf'))
  }

  get #index(): string {
    return `filters:${this.#chain}`
  }

  #place(id: string): string {
    return `filter:${this.#chain}:${id}`
  }

  #run: RedisRunner['run'] = async (work) => {
    try {
      return await this.#redis.run(work)
    } catch (error) {
      throw error instanceof RedisError && error.isAway ? unavailable('The store of filters is away') : error
    }
  }
}

function checked(filterText: string, seen: string): StoredFilter {
  const [filter, position] = [jsonIn(filterText), jsonIn(seen)]
  const isSound = checks.some((one) => one.filter.Check(filter) && one.seen.Check(position))
  if (!isSound) throw new DamagedFilter('a filter in Redis is damaged')
  return { filter: filter as Filter, seen }
}
