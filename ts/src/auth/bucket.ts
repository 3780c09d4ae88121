import type { RateStore, Spending } from './store.ts'

interface Bucket {
  level: number
  filledAt: number
}

/** Token buckets in memory, for a node without a shared store. */
export class MemoryRates implements RateStore {
  readonly #buckets = new Map<string, Bucket>()

  spend(spent: readonly Spending[], now: number): Promise<readonly number[]> {
    return Promise.resolve(spent.map((one) => this.#spend(one, now)))
  }

  #spend({ app, units, unitsPerSecond, burst, room = burst }: Spending, now: number): number {
    const bucket = this.#buckets.get(app) ?? { level: burst, filledAt: now }
    // A clock that was set back neither fills nor empties the bucket.
    const seconds = Math.max(0, now - bucket.filledAt) / 1000
    bucket.level = Math.min(room, bucket.level - units + seconds * unitsPerSecond)
    bucket.filledAt = now
    // The time of a full bucket is dropped: time in which it could not fill must not pay for later units.
    if (bucket.level === burst) this.#buckets.delete(app)
    else this.#buckets.set(app, bucket)
    return bucket.level
  }
}
