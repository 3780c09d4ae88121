import { malformed } from './error.ts'

/** `0x` and two digits per byte. */
export type Hex = `0x${string}`

/** Decodes a hex text, of `length` bytes if that is present. Throws VerificationError. */
export function bytesOf(text: unknown, what: string, length?: number): Uint8Array {
  if (typeof text !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) throw malformed(`${what}: not hex`)
  const bytes = new Uint8Array((text.length - 2) / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(2 + 2 * at, 4 + 2 * at), 16)
  if (length !== undefined && bytes.length !== length) throw malformed(`${what}: ${length} bytes are expected`)
  return bytes
}

/** Reads a number written as QUANTITY or as DATA. Throws VerificationError. */
export function numberOf(text: unknown, what: string): bigint {
  if (typeof text !== 'string' || !/^0x[0-9a-fA-F]+$/.test(text)) throw malformed(`${what}: not a number in hex`)
  return BigInt(text)
}

export function hexOf(bytes: Uint8Array): Hex {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Reads an unsigned big-endian number. */
export function unsigned(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(hexOf(bytes))
}

/** Returns the big-endian bytes of a number, padded to `length` if that is present. */
export function bigEndian(value: bigint, length?: number): Uint8Array {
  const digits = value === 0n ? '' : value.toString(16)
  const bytes = bytesOf(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`, 'number')
  if (length === undefined) return bytes
  if (bytes.length > length) throw malformed(`a number takes more than ${length} bytes`)
  return concat(new Uint8Array(length - bytes.length), bytes)
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

/** Returns the index of the last occurrence of `part`, or -1. */
export function lastIndexOf(whole: Uint8Array, part: Uint8Array): number {
  for (let at = whole.length - part.length; at >= 0; at--) {
    if (part.every((byte, offset) => whole[at + offset] === byte)) return at
  }
  return -1
}
