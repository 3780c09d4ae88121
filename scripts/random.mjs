/** Random numbers of a seed (mulberry32). */
export class Random {
  #state

  constructor(seed) {
    this.#state = seed >>> 0
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let word = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return (word ^ (word >>> 14)) >>> 0
  }

  /** Returns a number from 0 to `bound` - 1. */
  below(bound) {
    return this.next() % bound
  }

  /** Returns true once in `count` calls, on average. */
  isOne(count) {
    return this.below(count) === 0
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  bytes(count) {
    return Array.from({ length: count }, () => this.below(256))
  }

  /** Returns `0x` and random bytes. */
  hex(bytes) {
    return `0x${this.bytes(bytes)
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('')}`
  }
}
