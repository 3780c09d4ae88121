import { sha256 } from '@noble/hashes/sha2.js'
import { concat } from './bytes.ts'

/** Returns the double SHA-256 of Bitcoin. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes))
}

/**
 * Returns the SHA-256 of a message of which only a midstate and the tail are known: `state` (8 words of 4 bytes) is the
 * state after `byteCount` bytes. Hand-written, because libraries cannot start from a midstate.
 */
export function sha256From(state: Uint8Array, byteCount: bigint, tail: Uint8Array): Uint8Array {
  const length = new DataView(new ArrayBuffer(8))
  length.setBigUint64(0, BigInt.asUintN(64, (byteCount + BigInt(tail.length)) * 8n))
  const zeros = new Uint8Array((119 - (tail.length % 64)) % 64)
  const padded = concat(tail, Uint8Array.of(0x80), zeros, new Uint8Array(length.buffer))
  let words = wordsOf(state)
  for (let at = 0; at < padded.length; at += 64) words = compress(words, wordsOf(padded.subarray(at, at + 64)))
  return bytesOfWords(words)
}

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const roundConstants = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))

function compress(state: Uint32Array, block: Uint32Array): Uint32Array {
  const schedule = new Uint32Array(64)
  schedule.set(block)
  for (let t = 16; t < 64; t++) {
    const [early, late] = [word(schedule, t - 15), word(schedule, t - 2)]
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    schedule[t] = word(schedule, t - 16) + small0 + word(schedule, t - 7) + small1
  }
  let [a, b, c, d, e, f, g, h] = Array.from(state) as [number, number, number, number, number, number, number, number]
  for (let t = 0; t < 64; t++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = (h + big1 + choice + word(roundConstants, t) + word(schedule, t)) >>> 0
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + big0 + majority) >>> 0]
  }
  return state.map((before, index) => before + ([a, b, c, d, e, f, g, h][index] as number))
}

function word(words: Uint32Array, at: number): number {
  return words[at] as number
}

function rotate(value: number, bits: number): number {
  return ((value >>> bits) | (value << (32 - bits))) >>> 0
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from({ length: bytes.length / 4 }, (_none, index) => view.getUint32(4 * index))
}

function bytesOfWords(words: Uint32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * words.length))
  for (const [index, value] of words.entries()) view.setUint32(4 * index, value)
  return new Uint8Array(view.buffer)
}

function primes(count: number): number[] {
  const found: number[] = []
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate)
  }
  return found
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32)
}
