import type { Usage } from './store.ts'

// What apps spend, counted in memory that all workers share: one atomic addition for each number, no message, no waiting.
// The main thread reads the counters and moves the ceilings up to which workers may count.

/** Places for apps. One stays taken as long as the node runs, also when its app is revoked. */
export const mostMeters = 16_384

const cellsPerMeter = 16
/** Compute units, requests, errors, refused bodies: they only grow, and wrap around. */
const [units, requests, errors, refused] = [0, 1, 2, 3]
/** HTTP requests and messages that are being worked on. */
const running = 4
/** Values of `units` beyond which nothing is let through. */
const ceilings = { rate: 5, day: 6, month: 7 } as const
/** Ceilings are never further away: differences of numbers that wrap around tell up to here what is before and what behind. */
const farthest = 2 ** 30

export type Limit = keyof typeof ceilings

/** What may be spent of an app. */
export interface MeterLimits {
  /** Whether there is a rate; then how much of it may be spent at once. */
  readonly burst: number | null
  readonly hasDay: boolean
  readonly hasMonth: boolean
}

/** Memory for all meters. */
export function meterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(mostMeters * cellsPerMeter * 4)
}

/** The meter of one app; all threads that are given the same memory and place see the same one. */
export class Meter {
  readonly place: number
  readonly #cells: Int32Array

  constructor(memory: SharedArrayBuffer, place: number) {
    this.place = place
    this.#cells = new Int32Array(memory, place * cellsPerMeter * 4, cellsPerMeter)
  }

  /** Counts without looking at any limit. */
  count(count: number, price: number): void {
    Atomics.add(this.#cells, units, price)
    Atomics.add(this.#cells, requests, count)
  }

  /** Pays, or says which limit has less than `needed` left: then nothing was paid. */
  pay(count: number, price: number, { burst, hasDay, hasMonth }: MeterLimits, needed = price): Limit | undefined {
    const cells = this.#cells
    for (;;) {
      const spent = Atomics.load(cells, units)
      if (hasMonth && this.#left(spent, 'month') < needed) return 'month'
      if (hasDay && this.#left(spent, 'day') < needed) return 'day'
      // What costs more than a full bucket holds passes when it is full, and is made up for.
      if (burst !== null && this.#left(spent, 'rate') < Math.min(needed, burst)) return 'rate'
      if (Atomics.compareExchange(cells, units, spent, (spent + price) | 0) === spent) break
    }
    Atomics.add(cells, requests, count)
    return undefined
  }

  /** False when `limit` are running. */
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

  /** Units that may be spent now; of far limits it is only known that it is at least so much. */
  left(limit: Limit): number {
    return this.#left(Atomics.load(this.#cells, units), limit)
  }

  /** The counters as they stand. */
  read(): MeterCounts {
    const [one = 0, two = 0, three = 0, four = 0] = [units, requests, errors, refused].map((cell) =>
      Atomics.load(this.#cells, cell),
    )
    return { units: one, requests: two, errors: three, refused: four }
  }

  /** From the value `from` of `units` on, so many more may be spent. */
  allow(limit: Limit, from: number, left: number): void {
    const bounded = Math.max(-farthest, Math.min(farthest, Math.floor(left)))
    Atomics.store(this.#cells, ceilings[limit], (from + bounded) | 0)
  }

  #left(spent: number, limit: Limit): number {
    return (Atomics.load(this.#cells, ceilings[limit]) - spent) | 0
  }
}

/** Numbers that wrap around: only differences mean anything. */
export type MeterCounts = Usage

/** How much a counter has grown, up to 2^31. */
export function grown(before: number, after: number): number {
  return (after - before) >>> 0
}
