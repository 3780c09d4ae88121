import { randomInt } from 'node:crypto'

/** Cells of one row; a power of two. */
const cells = 2 ** 15
const rows = 2

/**
 * How many connections each client has, for all workers in one piece of shared memory that never grows. A client's count
 * stands in two places that others may share, and the lesser of both is taken: it can be too high, never too low.
 */
export class ConnectionTable {
  /** To hand to another thread. The first two numbers decide who shares a place with whom, so that nobody can know. */
  readonly memory: Int32Array

  constructor(memory = newMemory()) {
    this.memory = memory
  }

  /** Where a client is counted: IPv4 addresses alone (4 bytes, or 16 in IPv6 form), IPv6 ones by their /64. */
  placeOf(address: Uint8Array): number {
    const isMapped = address.length === 16 && address[10] === 0xff && address[11] === 0xff && address[0] === 0
    const from = isMapped ? 12 : 0
    const to = address.length === 16 && !isMapped ? 8 : address.length
    let first = this.memory[0] as number
    let second = this.memory[1] as number
    for (let index = from; index < to; index++) {
      const byte = address[index] as number
      first = Math.imul(first ^ byte, 0x01000193)
      second = Math.imul(second ^ byte, 0x5bd1e995)
      first ^= first >>> 15
      second ^= second >>> 13
    }
    return (first & (cells - 1)) * cells + (second & (cells - 1))
  }

  /** Counts a connection, unless there are `limit` already. */
  enter(place: number, limit: number): boolean {
    const first = Atomics.add(this.memory, firstCell(place), 1)
    const second = Atomics.add(this.memory, secondCell(place), 1)
    if (Math.min(first, second) < limit) return true
    this.leave(place)
    return false
  }

  leave(place: number): void {
    Atomics.sub(this.memory, firstCell(place), 1)
    Atomics.sub(this.memory, secondCell(place), 1)
  }

  /** Connections that are counted at a place. */
  count(place: number): number {
    return Math.min(Atomics.load(this.memory, firstCell(place)), Atomics.load(this.memory, secondCell(place)))
  }
}

function newMemory(): Int32Array {
  const memory = new Int32Array(new SharedArrayBuffer(4 * (2 + rows * cells)))
  memory[0] = randomInt(2 ** 31)
  memory[1] = randomInt(2 ** 31)
  return memory
}

function firstCell(place: number): number {
  return 2 + Math.floor(place / cells)
}

function secondCell(place: number): number {
  return 2 + cells + (place % cells)
}
