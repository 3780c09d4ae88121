/** A random number generator with a seed (Mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns 32 random bits. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** Returns a number from 0 to `bound` - 1. */
  below(bound: number): number {
    return this.next() % bound
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** Returns the values in random order. */
  shuffled<T>(list: readonly T[]): T[] {
    const ranks = list.map((value) => ({ value, rank: this.next() }))
    return ranks.sort((a, b) => a.rank - b.rank).map(({ value }) => value)
  }

  /** Returns `0x` and random bytes. */
  hex(bytes: number): string {
    return `0x${Array.from({ length: bytes }, () => this.below(256).toString(16).padStart(2, '0')).join('')}`
  }
}
