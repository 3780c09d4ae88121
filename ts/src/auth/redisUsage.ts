import { randomUUID } from 'node:crypto'
import type { RedisRunner } from '../redis/connection.ts'
import type { AppUsage, Usage, UsageReport, UsageStore, UsedUnits } from './store.ts'
import { dayOf, keptDays, keptMonths, monthOf, noUsage, usageCounts } from './usage.ts'

const daySeconds = 86_400
const maxUnconfirmed = 16

/**
 * KEYS: the hashes of day and month, and the key with the name of this node's most recent batch. ARGV: lifetimes of day
 * and month in seconds, the name of this batch, then the name and counts of each app. Returns the units of day and month
 * of each app. Reads before it writes, so that a key of another type rejects the whole batch.
 */
const add = `
local names = { 'requests', 'units', 'errors', 'refused' }
for period = 1, 2 do redis.call('HLEN', KEYS[period]) end
redis.call('SET', KEYS[3], ARGV[3], 'EX', 3600)
local used = {}
for at = 4, #ARGV, 5 do
  for period = 1, 2 do
    for i, name in ipairs(names) do
      if ARGV[at + i] ~= '0' then redis.call('HINCRBY', KEYS[period], ARGV[at] .. ':' .. name, ARGV[at + i]) end
    end
    used[#used + 1] = redis.call('HGET', KEYS[period], ARGV[at] .. ':units') or '0'
  end
end
for period = 1, 2 do redis.call('EXPIRE', KEYS[period], ARGV[period]) end
return used`

/** A batch that was sent without an answer: it may have been added. */
interface UnconfirmedBatch {
  readonly batch: string
  readonly counted: ReadonlyMap<string, Usage>
}

/** Usage of all nodes in Redis: a hash for each UTC day and month, with fields like `wallet:units`. */
export class RedisUsage implements UsageStore {
  readonly #redis: RedisRunner
  readonly #now: () => number
  readonly #lastBatch = `usage-batch:${randomUUID()}`
  #unconfirmed: UnconfirmedBatch[] = []

  constructor(redis: RedisRunner, now: () => number = Date.now) {
    this.#redis = redis
    this.#now = now
  }

  async add(counted: readonly AppUsage[], now: number): Promise<readonly UsedUnits[]> {
    const added = await this.#addedBefore()
    const batch = randomUUID()
    const rows = counted.flatMap((one) => {
      const before = added.get(one.app) ?? noUsage
      return [one.app, ...usageCounts.map((name) => Math.max(0, one[name] - before[name]))]
    })
    const keys = [keyOf(dayOf(now)), keyOf(monthOf(now)), this.#lastBatch]
    const terms = [keptDays * daySeconds, keptMonths * 31 * daySeconds, batch, ...rows]
    const used = await this.#redis.run((redis) => {
      const sent = { batch, counted: new Map(counted.map((one) => [one.app, one])) }
      this.#unconfirmed = [...this.#unconfirmed.slice(-maxUnconfirmed), sent]
      return redis.eval(add, keys.length, ...keys, ...terms) as Promise<string[]>
    })
    this.#unconfirmed = []
    return counted.map((_app, index) => ({ day: Number(used[2 * index]), month: Number(used[2 * index + 1]) }))
  }

  /** Returns the counts of the next batch that are stored already: an earlier batch was added and only its answer lost. */
  async #addedBefore(): Promise<ReadonlyMap<string, Usage>> {
    if (this.#unconfirmed.length === 0) return new Map()
    const last = await this.#redis.run((redis) => redis.get(this.#lastBatch))
    return this.#unconfirmed.find(({ batch }) => batch === last)?.counted ?? new Map()
  }

  async report(): Promise<readonly UsageReport[]> {
    const now = this.#now()
    const days = Array.from({ length: keptDays }, (_none, back) => dayOf(now - back * daySeconds * 1000)).reverse()
    const months = Array.from({ length: keptMonths }, (_none, back) => monthBefore(now, back)).reverse()
    const hashes = await this.#redis.run((redis) =>
      Promise.all([...days, ...months].map((period) => redis.hgetall(keyOf(period)))),
    )
    const reports = new Map<string, Report>()
    for (const [index, period] of [...days, ...months].entries()) {
      for (const [field, count] of Object.entries(hashes[index] ?? {})) {
        const [app = '', name = ''] = field.split(':')
        const report = reports.get(app) ?? { app, days: {}, months: {} }
        reports.set(app, report)
        const periods = index < days.length ? report.days : report.months
        periods[period] = { ...noUsage, ...periods[period], [name]: Number(count) }
      }
    }
    return [...reports.values()]
  }
}

interface Report {
  readonly app: string
  readonly days: Record<string, Usage>
  readonly months: Record<string, Usage>
}

function keyOf(period: string): string {
  return `usage:${period}`
}

function monthBefore(now: number, back: number): string {
  const date = new Date(now)
  return monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, 1))
}
