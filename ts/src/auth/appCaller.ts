import type { Caller, LimitState } from '../rpc/caller.ts'
import { quotaExceeded, type RpcError, tooManyRequests } from '../rpc/errors.ts'
import { type Limit, Meter, type MeterLimits } from './meter.ts'
import type { MethodGroups } from './methodGroups.ts'
import { once } from './once.ts'
import type { Policy } from './policy.ts'
import type { Access } from './profile.ts'

interface Terms {
  readonly limits: Policy['limits']
  readonly bounds: MeterLimits
  /** Neither rate nor quotas: counting needs no check. */
  readonly isUnlimited: boolean
}

/** A caller with the key of an app: its permissions, and the meter that its requests are charged to. */
export class AppCaller implements Caller {
  readonly app: string
  readonly isCountedWhileRunning: boolean
  readonly #meter: Meter
  readonly #terms: Terms
  readonly #methods: () => ReadonlySet<string> | undefined
  readonly #contracts: () => ReadonlySet<string> | undefined

  private constructor(
    app: string,
    meter: Meter,
    terms: Terms,
    methods: () => ReadonlySet<string> | undefined,
    contracts: () => ReadonlySet<string> | undefined,
  ) {
    this.app = app
    this.#meter = meter
    this.#terms = terms
    this.#methods = methods
    this.#contracts = contracts
    this.isCountedWhileRunning = terms.limits.concurrency !== null
  }

  static of(
    { name, meterIndex, allow, limits, burst }: Access,
    memory: SharedArrayBuffer,
    groups: MethodGroups,
  ): AppCaller {
    const bounds = { burst, hasDay: limits.dailyUnits !== null, hasMonth: limits.monthlyUnits !== null }
    const isUnlimited = burst === null && !bounds.hasDay && !bounds.hasMonth
    const methods = once(() => (allow.methods.length === 0 ? undefined : groups.namesOf(allow.methods)))
    const contracts = once(() => (allow.contracts.length === 0 ? undefined : new Set(allow.contracts)))
    return new AppCaller(name, new Meter(memory, meterIndex), { limits, bounds, isUnlimited }, methods, contracts)
  }

  /** Returns a caller with the same meter that may call only those of `methods` that the app may. */
  narrowedTo(methods: ReadonlySet<string>): AppCaller {
    const both = this.methods === undefined ? methods : new Set([...methods].filter((one) => this.methods?.has(one)))
    return new AppCaller(this.app, this.#meter, this.#terms, () => both, this.#contracts)
  }

  get methods(): ReadonlySet<string> | undefined {
    return this.#methods()
  }

  get contracts(): ReadonlySet<string> | undefined {
    return this.#contracts()
  }

  get account(): number {
    return this.#meter.index + 1
  }

  enter(units: number): RpcError | undefined {
    const { limits, bounds, isUnlimited } = this.#terms
    if (limits.concurrency !== null && !this.#meter.enter(limits.concurrency)) return tooManyRequests(1)
    if (isUnlimited) {
      if (units > 0) this.#meter.count(0, units)
      return undefined
    }
    // Every body contains a request, which costs at least one unit.
    const needed = Math.max(1, units)
    const limit = this.#meter.pay(0, units, bounds, needed)
    if (limit === undefined) return undefined
    if (limits.concurrency !== null) this.#meter.leave()
    return this.#refusal(limit, needed)
  }

  pay(requests: number, units: number): RpcError | undefined {
    const { bounds, isUnlimited } = this.#terms
    if (isUnlimited) {
      this.#meter.count(requests, units)
      return undefined
    }
    const limit = this.#meter.pay(requests, units, bounds)
    return limit === undefined ? undefined : this.#refusal(limit, units)
  }

  leave(): void {
    this.#meter.leave()
  }

  countError(): void {
    this.#meter.countError()
  }

  countRefused(): void {
    this.#meter.countRefused()
  }

  limitState(): LimitState | undefined {
    if (this.#terms.isUnlimited) return undefined
    const { unitsPerSecond, dailyUnits, monthlyUnits } = this.#terms.limits
    const { burst } = this.#terms.bounds
    let nearest: LimitState | undefined
    const consider = (limit: Limit, whole: number | null, reset: (missing: number) => number): void => {
      if (whole === null) return
      const remaining = Math.max(0, Math.min(whole, this.#meter.left(limit)))
      if (nearest !== undefined && nearest.remaining <= remaining) return
      nearest = { limit: whole, remaining, resetSeconds: reset(whole - remaining) }
    }
    consider('rate', burst, (missing) => Math.ceil(missing / (unitsPerSecond ?? 1)))
    consider('day', dailyUnits, () => secondsLeft('day', Date.now()))
    consider('month', monthlyUnits, () => secondsLeft('month', Date.now()))
    return nearest
  }

  #refusal(limit: Limit, units: number): RpcError {
    if (limit !== 'rate') return quotaExceeded(secondsLeft(limit, Date.now()))
    const { limits, bounds } = this.#terms
    const missing = Math.min(units, bounds.burst ?? 0) - this.#meter.left('rate')
    return tooManyRequests(Math.max(1, Math.ceil(missing / (limits.unitsPerSecond ?? 1))))
  }
}

/** Returns the seconds until the UTC day or month ends. */
export function secondsLeft(period: 'day' | 'month', now: number): number {
  const time = new Date(now)
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  const end = period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)
  return Math.ceil((end - now) / 1000)
}
