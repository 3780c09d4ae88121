import type { App } from './app.ts'
import { grown, type Limit, Meter, type MeterCounts, maxMeters, meterMemory } from './meter.ts'
import { noPolicy } from './policy.ts'
import type { AppUsage, RateStore, Usage, UsageStore } from './store.ts'
import { noUsage, usageCounts } from './usage.ts'

const rateMs = 50
const usageMs = 250
/** Decay of the measured gap in each round, so that the units of a late round can be spent within a second. */
const gapDecay = 0.85
const maxGapMs = 2000
/** Apps may be used on other nodes: quotas of apps that are idle here are read in every fourth round. */
const idleRounds = 4

type Counts = { -readonly [name in keyof Usage]: Usage[name] }

interface Account {
  readonly app: string
  readonly index: number
  readonly meter: Meter
  limits: App['limits']
  /** Units at the last report to the bucket. */
  reportedUnits: number
  /** Level of the bucket at that time. */
  level: number
  /** Counters at the last reading. */
  counters: MeterCounts
  /** Counts that the store does not have yet. */
  readonly unreported: Counts
  /** All counts since the start. */
  readonly total: Counts
}

/** The two parts of a store that accounting reports to. */
export interface AccountedStore {
  readonly usage: UsageStore
  readonly rates: RateStore
}

/** Returns the units that may be spent at once: those of half a second, and at least those of two rounds. Null without a rate limit. */
export function burstOf({ unitsPerSecond, burst }: App['limits']): number | null {
  if (unitsPerSecond === null) return null
  return Math.max(burst ?? Math.ceil(unitsPerSecond / 2), Math.ceil((unitsPerSecond * 2 * rateMs) / 1000))
}

/** The main thread's side of the meters: reports spent units to the store, and raises the ceilings up to which workers may spend. */
export class Accounting {
  /** Shared memory of the meters. */
  readonly memory = meterMemory()
  readonly #store: AccountedStore
  readonly #accounts = new Map<string, Account>()
  readonly #onProblem: (error: Error) => void
  /** The most recent problem of each kind of work. */
  readonly #problems = { rates: '', usage: '', meters: '' }
  #round = 0
  #ratesUpdatedMs = performance.now()
  /** The longest recent time between two rounds of rates, in milliseconds. */
  #gapMs = 0
  #timers: NodeJS.Timeout[] = []
  #updatingRates: Promise<unknown> = Promise.resolve()
  #reportingUsage: Promise<unknown> = Promise.resolve()

  constructor(store: AccountedStore, onProblem: (error: Error) => void) {
    this.#store = store
    this.#onProblem = onProblem
  }

  /** Returns the index of each app's meter, undefined if there is no meter left. Their limits apply when this resolves. */
  async open(apps: readonly App[]): Promise<(number | undefined)[]> {
    const meters = apps.map((app) => this.#meterOf(app))
    const wanted = new Map(apps.map((app) => [app.name, app]))
    for (const account of this.#accounts.values()) {
      const limits = wanted.get(account.app)?.limits ?? noPolicy.limits
      // Units that were spent before there was a rate do not count.
      if (account.limits.unitsPerSecond === null) account.reportedUnits = account.meter.read().units
      account.limits = limits
    }
    await this.#safely('rates', () => this.#updateRates(true))
    await this.#safely('usage', () => this.#reportUsage(true))
    return meters
  }

  start(): void {
    this.#ratesUpdatedMs = performance.now()
    this.#repeat('rates', rateMs, () => this.#updateRates(false))
    this.#repeat('usage', usageMs, () => this.#reportUsage(this.#round++ % idleRounds === 0))
  }

  /** Reports the remaining counts and ends. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers = []
    await this.#safely('usage', () => this.#reportUsage(false))
  }

  /** Returns the counts of this node since its start. */
  totals(): AppUsage[] {
    return [...this.#accounts.values()].map((account) => {
      readCounters(account)
      return { app: account.app, ...account.total }
    })
  }

  #meterOf({ name, limits }: App): number | undefined {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known.index
    const index = this.#accounts.size
    if (index === maxMeters) {
      this.#report(
        'meters',
        new Error(`all ${maxMeters} meters of apps are in use, also by removed apps; restart the node to add more`),
      )
      return undefined
    }
    const meter = new Meter(this.memory, index)
    this.#accounts.set(name, {
      app: name,
      index,
      meter,
      limits,
      reportedUnits: 0,
      level: 0,
      counters: meter.read(),
      unreported: { ...noUsage },
      total: { ...noUsage },
    })
    return index
  }

  #repeat(kind: Kind, everyMs: number, work: () => Promise<void>): void {
    const index = this.#timers.length
    const again = (): void => {
      void this.#safely(kind, work).then(() => {
        if (this.#timers[index] !== undefined) this.#timers[index] = setTimeout(again, everyMs).unref()
      })
    }
    this.#timers.push(setTimeout(again, everyMs).unref())
  }

  /** Runs one update after the other, as `#reportUsage` does: two at the same time would report the same units twice. */
  #updateRates(isAll: boolean): Promise<void> {
    const update = this.#updatingRates.then(() => this.#updateRatesNow(isAll))
    this.#updatingRates = update.catch(() => undefined)
    return update
  }

  /** Reports spent units to the buckets and raises the ceilings. Skips full buckets without spent units, unless `isAll`. */
  async #updateRatesNow(isAll: boolean): Promise<void> {
    // On a busy machine rounds come late. A caller that had to wait must find room, or its rate is never reached.
    const now = performance.now()
    this.#gapMs = Math.max(now - this.#ratesUpdatedMs, this.#gapMs * gapDecay)
    this.#ratesUpdatedMs = now
    const spent = [...this.#accounts.values()].flatMap((account) => {
      const { unitsPerSecond } = account.limits
      const burst = burstOf(account.limits)
      if (burst === null || unitsPerSecond === null) return []
      const { units } = account.meter.read()
      const isIdle = units === account.reportedUnits && account.level === burst
      if (isIdle && !isAll) return []
      const spent = grown(account.reportedUnits, units)
      // An app that did not empty its bucket must not spend more than the burst at once.
      const isShort = spent >= account.level
      const perGap = Math.ceil((unitsPerSecond * Math.min(this.#gapMs, maxGapMs)) / 1000)
      const room = isShort ? Math.max(burst, perGap) : burst
      const asked = { app: account.app, units: spent, unitsPerSecond, burst, room }
      return [{ account, units, asked }]
    })
    if (spent.length === 0) return
    const asked = spent.map((one) => one.asked)
    const levels = await this.#store.rates.spend(asked, Date.now())
    for (const [index, { account, units }] of spent.entries()) {
      const level = levels[index] ?? 0
      account.reportedUnits = units
      account.level = level
      account.meter.allow('rate', units, level)
    }
  }

  #reportUsage(isAll: boolean): Promise<void> {
    const report = this.#reportingUsage.then(() => this.#reportUsageNow(isAll))
    this.#reportingUsage = report.catch(() => undefined)
    return report
  }

  /** Adds unreported counts to the usage in the store, and sets the ceilings of the quotas. */
  async #reportUsageNow(isAll: boolean): Promise<void> {
    const accounts = [...this.#accounts.values()].filter(
      (account) => readCounters(account) || (isAll && hasQuota(account)),
    )
    if (accounts.length === 0) return
    const counted = accounts.map(({ app, unreported }) => ({ app, ...unreported }))
    const froms = accounts.map(({ counters }) => counters.units)
    const used = await this.#store.usage.add(counted, Date.now())
    for (const [index, { meter, limits, unreported }] of accounts.entries()) {
      const { day, month } = used[index] ?? { day: 0, month: 0 }
      const from = froms[index] ?? 0
      for (const name of usageCounts) unreported[name] -= counted[index]?.[name] ?? 0
      const quotas: [Limit, number | null, number][] = [
        ['day', limits.dailyUnits, day],
        ['month', limits.monthlyUnits, month],
      ]
      for (const [limit, quota, spent] of quotas) if (quota !== null) meter.allow(limit, from, quota - spent)
    }
  }

  async #safely(kind: Kind, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#problems[kind] = ''
    } catch (error) {
      this.#report(kind, error as Error)
    }
  }

  /** Reports a problem once, however often it is repeated. */
  #report(kind: Kind, error: Error): void {
    if (error.message !== this.#problems[kind]) this.#onProblem(error)
    this.#problems[kind] = error.message
  }
}

type Kind = 'rates' | 'usage' | 'meters'

/** Adds what the meter has counted since the previous reading. Returns whether there are unreported counts. */
function readCounters(account: Account): boolean {
  const { counters, unreported, total } = account
  const now = account.meter.read()
  account.counters = now
  for (const name of usageCounts) {
    const more = grown(counters[name], now[name])
    unreported[name] += more
    total[name] += more
  }
  return usageCounts.some((name) => unreported[name] > 0)
}

function hasQuota({ limits }: Account): boolean {
  return limits.dailyUnits !== null || limits.monthlyUnits !== null
}
