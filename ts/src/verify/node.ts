import { malformed } from './error.ts'

/** A child: Keccak of its message, or the message embedded in its parent. */
export type Child = { readonly hash: Uint8Array } | { readonly embedded: Uint8Array }

/** Value of a node: undefined, at most 32 bytes, or hash and length of a longer value. */
export type Value = undefined | { readonly bytes: Uint8Array } | { readonly hash: Uint8Array; readonly length: number }

/** A node of the unitrie (RSKIP-107 as deployed: docs/spec/state.md, 1.2). */
export interface TrieNode {
  readonly pathBits: number
  readonly path: Uint8Array
  readonly left: Child | undefined
  readonly right: Child | undefined
  readonly value: Value
}

const hasLongValue = 0x20
const hasPath = 0x10
const hasLeft = 0x08
const hasRight = 0x04
const isLeftEmbedded = 0x02
const isRightEmbedded = 0x01

/** Reads a node message. */
export function parseNode(message: Uint8Array): TrieNode {
  const reader = new Reader(message)
  const flags = reader.byte()
  if (flags >> 6 !== 1) throw malformed('node: not in the format of RSKIP-107')
  const pathBits = flags & hasPath ? pathLength(reader) : 0
  const path = reader.take(Math.ceil(pathBits / 8))
  const left = flags & hasLeft ? child(reader, flags & isLeftEmbedded) : undefined
  const right = flags & hasRight ? child(reader, flags & isRightEmbedded) : undefined
  // Skips the size of the subtree, which is only needed for fetching it.
  if (flags & (hasLeft | hasRight)) reader.variable()
  return { pathBits, path, left, right, value: flags & hasLongValue ? longValue(reader) : shortValue(reader) }
}

/** Returns bit `at` of a path, from the left. */
export function bit(path: Uint8Array, at: number): number {
  return ((path[at >> 3] as number) >> (7 - (at & 7))) & 1
}

function pathLength(reader: Reader): number {
  const form = reader.byte()
  if (form < 0x20) return form + 1
  return form < 0xff ? form + 128 : reader.variable()
}

function child(reader: Reader, isEmbedded: number): Child {
  return isEmbedded ? { embedded: reader.take(reader.byte()) } : { hash: reader.take(32) }
}

function longValue(reader: Reader): Value {
  const hash = reader.take(32)
  const length = reader.take(3).reduce((sum, byte) => sum * 256 + byte, 0)
  if (reader.rest().length > 0) throw malformed('node: bytes after the end')
  return { hash, length }
}

function shortValue(reader: Reader): Value {
  const bytes = reader.rest()
  return bytes.length === 0 ? undefined : { bytes }
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  byte(): number {
    return this.take(1)[0] as number
  }

  take(count: number): Uint8Array {
    const taken = this.#bytes.subarray(this.#at, this.#at + count)
    if (taken.length < count) throw malformed('node: ends too early')
    this.#at += count
    return taken
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  /** Reads a compact size of Bitcoin (little-endian). */
  variable(): number {
    const first = this.byte()
    if (first < 0xfd) return first
    const digits = this.take(2 ** (first - 0xfc))
    return digits.reduceRight((sum, byte) => sum * 256 + byte, 0)
  }
}
