import type { Usage } from './store.ts'

// Usage of apps, counted in memory that all workers share: one atomic addition for each number, no message, no waiting.
// The main thread reads the counters and moves the ceilings up to which workers may count.

/** Number of meters. A meter is not reused while the node runs, also after its app is revoked. */
export const maxMeters = 16_384

const cellsPerMeter = 16
/** Indexes of compute units, requests, errors, refused bodies. They only grow, and wrap around. */
const [units, requests, errors, refused] = [0, 1, 2, 3]
/** Index of the HTTP requests and messages in progress. */
const running = 4
/** Indexes of the values of `units` from which on requests are refused. */
const ceilings = { rate: 5, day: 6, month: 7 } as const
/** Largest distance of a ceiling from `units`: the sign of a difference of wrapping numbers is right up to here. */
const maxDistance = 2 ** 30

export type Limit = keyof typeof ceilings

/** Which limits a meter has. */
export interface MeterLimits {
  /** Units that may be spent at once; null if there is no rate limit. */
  readonly burst: number | null
  readonly hasDay: boolean
  readonly hasMonth: boolean
}

/** Allocates the memory of all meters. */
export function meterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(maxMeters * cellsPerMeter * 4)
}

/** The meter of one app. Threads with the same memory and index share it. */
export class Meter {
  readonly index: number
  readonly #cells: Int32Array

  constructor(memory: SharedArrayBuffer, index: number) {
    this.index = index
    this.#cells = new Int32Array(memory, index * cellsPerMeter * 4, cellsPerMeter)
  }

  /** Counts without checking a limit. */
  count(count: number, price: number): void {
    Atomics.add(this.#cells, units, price)
    Atomics.add(this.#cells, requests, count)
  }

  /** Spends `price` units. Returns the limit that has less than `needed` units left, if any; nothing is spent then. */
  pay(count: number, price: number, { burst, hasDay, hasMonth }: MeterLimits, needed = price): Limit | undefined {
    const cells = this.#cells
    for (;;) {
      const spent = Atomics.load(cells, units)
      if (hasMonth && this.#left(spent, 'month') < needed) return 'month'
      if (hasDay && this.#left(spent, 'day') < needed) return 'day'
      // A request that costs more than a full bucket passes when the bucket is full, which makes the level negative.
      if (burst !== null && this.#left(spent, 'rate') < Math.min(needed, burst)) return 'rate'
      if (Atomics.compareExchange(cells, units, spent, (spent + price) | 0) === spent) break
    }
    Atomics.add(cells, requests, count)
    return undefined
  }

  /** Counts a request as in progress. Returns false when `limit` requests are in progress. */
  enter(limit: number): boolean {
    for (;;) {
      const now = Atomics.load(this.#cells, running)
      if (now >= limit) return false
      if (Atomics.compareExchange(this.#cells, running, now, now + 1) === now) return true
    }
  }

  leave(): void {
    Atomics.sub(this.#cells, running, 1)
  }

  countError(): void {
    Atomics.add(this.#cells, errors, 1)
  }

  countRefused(): void {
    Atomics.add(this.#cells, refused, 1)
  }

  /** Returns the units left of a limit, at most `maxDistance`. */
  left(limit: Limit): number {
    return this.#left(Atomics.load(this.#cells, units), limit)
  }

  /** Returns the current counters. */
  read(): MeterCounts {
    const [one = 0, two = 0, three = 0, four = 0] = [units, requests, errors, refused].map((cell) =>
      Atomics.load(this.#cells, cell),
    )
    return { units: one, requests: two, errors: three, refused: four }
  }

  /** Sets a ceiling `left` units above the value `from` of `units`. */
  allow(limit: Limit, from: number, left: number): void {
    const bounded = Math.max(-maxDistance, Math.min(maxDistance, Math.floor(left)))
    Atomics.store(this.#cells, ceilings[limit], (from + bounded) | 0)
  }

  #left(spent: number, limit: Limit): number {
    return (Atomics.load(this.#cells, ceilings[limit]) - spent) | 0
  }
}

/** Counters that wrap around: only differences are meaningful. */
export type MeterCounts = Usage

/** Returns the growth of a counter, less than 2^32. */
export function grown(before: number, after: number): number {
  return (after - before) >>> 0
}
