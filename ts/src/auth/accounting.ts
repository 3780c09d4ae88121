import type { App } from './app.ts'
import { grown, type Limit, Meter, type MeterCounts, meterMemory, mostMeters } from './meter.ts'
import { noPolicy } from './policy.ts'
import type { AppUsage, RateStore, Usage, UsageStore } from './store.ts'
import { noUsage, usageCounts } from './usage.ts'

const rateMs = 50
const usageMs = 250
/** From one look to the next, so that what a gap has left can be spent within a second. */
const gapDecay = 0.85
const longestGap = 2000
/** Other nodes spend too: quotas of apps that do nothing here are asked for every so many times. */
const idleRounds = 4

type Counts = { -readonly [name in keyof Usage]: Usage[name] }

interface Account {
  readonly app: string
  readonly place: number
  readonly meter: Meter
  limits: App['limits']
  /** Units at the last telling of the rate. */
  paced: number
  /** What the bucket held then. */
  level: number
  /** Counters when they were last looked at, and what of them is not told yet. */
  seen: MeterCounts
  readonly untold: Counts
  /** All that was counted since the start. */
  readonly total: Counts
}

/** The two parts of a store that accounting tells. */
export interface AccountedStore {
  readonly usage: UsageStore
  readonly rates: RateStore
}

/** Units that may be spent at once: those of half a second, and never less than come between two looks. */
export function burstOf({ unitsPerSecond, burst }: App['limits']): number | null {
  if (unitsPerSecond === null) return null
  return Math.max(burst ?? Math.ceil(unitsPerSecond / 2), Math.ceil((unitsPerSecond * 2 * rateMs) / 1000))
}

/** The main thread's side of the meters: tells the store what was spent, and the workers how much more may be. */
export class Accounting {
  /** For the workers' meters. */
  readonly memory = meterMemory()
  readonly #store: AccountedStore
  readonly #accounts = new Map<string, Account>()
  readonly #onProblem: (error: Error) => void
  /** The last one of each kind of work. */
  readonly #problems = { rates: '', usage: '', places: '' }
  #round = 0
  #pacedAt = performance.now()
  /** How long buckets were not looked at: the longest time of late, in milliseconds. */
  #gap = 0
  #timers: NodeJS.Timeout[] = []
  #pacing: Promise<unknown> = Promise.resolve()
  #telling: Promise<unknown> = Promise.resolve()

  constructor(store: AccountedStore, onProblem: (error: Error) => void) {
    this.#store = store
    this.#onProblem = onProblem
  }

  /** The places of the apps' meters, in order. Their limits hold when this resolves. */
  async open(apps: readonly App[]): Promise<(number | undefined)[]> {
    const places = apps.map((app) => this.#place(app))
    const wanted = new Map(apps.map((app) => [app.name, app]))
    for (const account of this.#accounts.values()) {
      const limits = wanted.get(account.app)?.limits ?? noPolicy.limits
      // What was spent before there was a rate does not count.
      if (account.limits.unitsPerSecond === null) account.paced = account.meter.read().units
      account.limits = limits
    }
    await this.#safely('rates', () => this.#pace(true))
    await this.#safely('usage', () => this.#tell(true))
    return places
  }

  start(): void {
    this.#pacedAt = performance.now()
    this.#repeat('rates', rateMs, () => this.#pace(false))
    this.#repeat('usage', usageMs, () => this.#tell(this.#round++ % idleRounds === 0))
  }

  /** Tells what is not told yet. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers = []
    await this.#safely('usage', () => this.#tell(false))
  }

  /** What was counted on this node since it started. */
  totals(): AppUsage[] {
    return [...this.#accounts.values()].map((account) => {
      look(account)
      return { app: account.app, ...account.total }
    })
  }

  #place({ name, limits }: App): number | undefined {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known.place
    const place = this.#accounts.size
    if (place === mostMeters) {
      this.#report(
        'places',
        new Error(`${mostMeters} apps have come and gone: the node must be restarted before there can be more`),
      )
      return undefined
    }
    const meter = new Meter(this.memory, place)
    const [untold, total]: [Counts, Counts] = [{ ...noUsage }, { ...noUsage }]
    this.#accounts.set(name, { app: name, place, meter, limits, paced: 0, level: 0, seen: meter.read(), untold, total })
    return place
  }

  #repeat(kind: Kind, everyMs: number, work: () => Promise<void>): void {
    const place = this.#timers.length
    const again = (): void => {
      void this.#safely(kind, work).then(() => {
        if (this.#timers[place] !== undefined) this.#timers[place] = setTimeout(again, everyMs).unref()
      })
    }
    this.#timers.push(setTimeout(again, everyMs).unref())
  }

  /** One after the other, as with #tell: two at a time would tell the same twice. */
  #pace(isAll: boolean): Promise<void> {
    const paced = this.#pacing.then(() => this.#paceNow(isAll))
    this.#pacing = paced.catch(() => undefined)
    return paced
  }

  /** Buckets that are full and untouched need no look. */
  async #paceNow(isAll: boolean): Promise<void> {
    // On a busy machine the buckets are filled late. A caller that had to wait must find room, or its rate is never reached.
    const now = performance.now()
    this.#gap = Math.max(now - this.#pacedAt, this.#gap * gapDecay)
    this.#pacedAt = now
    const spent = [...this.#accounts.values()].flatMap((account) => {
      const { unitsPerSecond } = account.limits
      const burst = burstOf(account.limits)
      if (burst === null || unitsPerSecond === null) return []
      const { units } = account.meter.read()
      const isIdle = units === account.paced && account.level === burst
      if (isIdle && !isAll) return []
      const spent = grown(account.paced, units)
      // Nobody else may have more than the burst at once.
      const isShort = spent >= account.level
      const perGap = Math.ceil((unitsPerSecond * Math.min(this.#gap, longestGap)) / 1000)
      const room = isShort ? Math.max(burst, perGap) : burst
      const asked = { app: account.app, units: spent, unitsPerSecond, burst, room }
      return [{ account, units, asked }]
    })
    if (spent.length === 0) return
    const asked = spent.map((one) => one.asked)
    const levels = await this.#store.rates.spend(asked, Date.now())
    for (const [index, { account, units }] of spent.entries()) {
      const level = levels[index] ?? 0
      account.paced = units
      account.level = level
      account.meter.allow('rate', units, level)
    }
  }

  #tell(isAll: boolean): Promise<void> {
    const told = this.#telling.then(() => this.#tellNow(isAll))
    this.#telling = told.catch(() => undefined)
    return told
  }

  async #tellNow(isAll: boolean): Promise<void> {
    const accounts = [...this.#accounts.values()].filter((account) => look(account) || (isAll && hasQuota(account)))
    if (accounts.length === 0) return
    const counted = accounts.map(({ app, untold }) => ({ app, ...untold }))
    const froms = accounts.map(({ seen }) => seen.units)
    const used = await this.#store.usage.add(counted, Date.now())
    for (const [index, { meter, limits, untold }] of accounts.entries()) {
      const { day, month } = used[index] ?? { day: 0, month: 0 }
      const from = froms[index] ?? 0
      for (const name of usageCounts) untold[name] -= counted[index]?.[name] ?? 0
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

  /** Each problem once, however often it comes. */
  #report(kind: Kind, error: Error): void {
    if (error.message !== this.#problems[kind]) this.#onProblem(error)
    this.#problems[kind] = error.message
  }
}

type Kind = 'rates' | 'usage' | 'places'

/** Takes over what was counted; whether there is anything to tell. */
function look(account: Account): boolean {
  const { seen, untold, total } = account
  const now = account.meter.read()
  account.seen = now
  for (const name of usageCounts) {
    const more = grown(seen[name], now[name])
    untold[name] += more
    total[name] += more
  }
  return usageCounts.some((name) => untold[name] > 0)
}

function hasQuota({ limits }: Account): boolean {
  return limits.dailyUnits !== null || limits.monthlyUnits !== null
}
