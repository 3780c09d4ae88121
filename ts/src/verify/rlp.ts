import { concat } from './bytes.ts'
import { malformed } from './error.ts'

/** A byte string, or a list. */
export type Item = Uint8Array | readonly Item[]

/** Largest depth of nested lists. */
const maxDepth = 8

/** Decodes exactly one item. Rejects non-canonical forms, so that equal items have equal bytes. Throws VerificationError. */
export function decode(bytes: Uint8Array, what: string): Item {
  const { item, end } = read(bytes, 0, bytes.length, what, 0)
  if (end !== bytes.length) throw malformed(`${what}: bytes after the end`)
  return item
}

/** Decodes exactly one list of byte strings. Throws VerificationError. */
export function decodeStrings(bytes: Uint8Array, what: string): Uint8Array[] {
  return asList(decode(bytes, what), what).map((item) => asString(item, what))
}

export function asList(item: Item | undefined, what: string): readonly Item[] {
  if (item === undefined || item instanceof Uint8Array) throw malformed(`${what}: a list is expected`)
  return item
}

export function asString(item: Item | undefined, what: string): Uint8Array {
  if (!(item instanceof Uint8Array)) throw malformed(`${what}: a byte string is expected`)
  return item
}

function read(bytes: Uint8Array, at: number, limit: number, what: string, depth: number): { item: Item; end: number } {
  const first = bytes[at]
  if (first === undefined || at >= limit) throw malformed(`${what}: ends too early`)
  if (first < 0x80) return { item: bytes.slice(at, at + 1), end: at + 1 }
  const isList = first >= 0xc0
  const { start, end } = bounds(bytes, at, limit, first - (isList ? 0xc0 : 0x80), what)
  if (!isList) {
    if (end - start === 1 && (bytes[start] as number) < 0x80) throw malformed(`${what}: not in canonical form`)
    return { item: bytes.slice(start, end), end }
  }
  if (depth === maxDepth) throw malformed(`${what}: nested too deeply`)
  const items: Item[] = []
  for (let next = start; next < end; ) {
    const element = read(bytes, next, end, what, depth + 1)
    items.push(element.item)
    next = element.end
  }
  return { item: items, end }
}

/** Returns start and end of the payload; `form` is the first byte without its kind. */
function bounds(bytes: Uint8Array, at: number, limit: number, form: number, what: string) {
  let [start, length] = [at + 1, form]
  if (form > 55) {
    const lengthBytes = form - 55
    const digits = bytes.subarray(start, start + lengthBytes)
    start += lengthBytes
    length = digits.reduce((sum, byte) => sum * 256 + byte, 0)
    if (digits.length < lengthBytes || start > limit) throw malformed(`${what}: ends too early`)
    if (digits[0] === 0 || length <= 55) throw malformed(`${what}: not in canonical form`)
  }
  if (start + length > limit) throw malformed(`${what}: ends too early`)
  return { start, end: start + length }
}

export function encode(item: Item): Uint8Array {
  if (item instanceof Uint8Array) {
    return item.length === 1 && (item[0] as number) < 0x80 ? item : concat(head(0x80, item.length), item)
  }
  const payload = concat(...item.map(encode))
  return concat(head(0xc0, payload.length), payload)
}

function head(kind: number, length: number): Uint8Array {
  if (length <= 55) return Uint8Array.of(kind + length)
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return Uint8Array.of(kind + 55 + digits.length, ...digits)
}
