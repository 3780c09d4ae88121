/** Random numbers of a seed (Mulberry32). */
export class Random {
  #state

  constructor(seed) {
    this.#state = seed >>> 0
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** Returns a number from 0 to `bound` - 1. */
  below(bound) {
    return this.next() % bound
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  /** Returns `0x` and random bytes. */
  hex(bytes) {
    return `0x${Array.from({ length: bytes }, () => this.below(256).toString(16).padStart(2, '0')).join('')}`
  }
}
