// Other bytes, and other encodings of the same bytes, for an element of an encoded object.
import { digits, encode, lengthened, numberOf, read, Written } from './encoding.mjs'

const empty = Buffer.alloc(0)
/** Numbers at which readers change their mind. */
const edges = [0n, 1n, 127n, 128n, 255n, 256n, 0xffffn, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 63n - 1n, 2n ** 63n]
export const wideEdges = [
  2n ** 64n - 1n,
  2n ** 64n,
  2n ** 128n,
  2n ** 255n - 1n,
  2n ** 255n,
  2n ** 256n - 1n,
  2n ** 256n,
  2n ** 300n,
]

/** Returns another encoding of a value, or another value. */
export function damaged(node, random) {
  const value = read(node)
  const number = numberOf(value)
  const changes = [
    () => ['empty', empty],
    () => ['shorter', value.subarray(0, value.length - 1)],
    () => ['shorter at the front', value.subarray(1)],
    () => ['longer', Buffer.concat([value, Buffer.from([random.pick([0, 1, 255])])])],
    () => ['leading zeros', Buffer.concat([Buffer.alloc(random.pick([1, 1, 8, 40])), value])],
    () => [
      'leading zero of the sign',
      digits(number)[0] >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits(number)]) : value,
    ],
    () => ['a zero byte', Buffer.alloc(1)],
    () => ['zero bytes', Buffer.alloc(random.pick([2, 20, 32, 33, 256]))],
    () => ['negative', Buffer.concat([Buffer.from([0xff]), value])],
    () => ['all bits', Buffer.alloc(random.pick([1, 8, 32, 33]), 0xff)],
    () => ['plus one', digits(number + 1n)],
    () => ['minus one', digits(number === 0n ? 0n : number - 1n)],
    () => ['plus one', digits(number + 1n)],
    () => ['minus one', digits(number === 0n ? 0n : number - 1n)],
    () => ['an edge', digits(random.pick(edges))],
    () => ['an edge', digits(random.pick(edges))],
    () => ['a wide edge', digits(random.pick(wideEdges))],
    () => ['long', Buffer.from(random.bytes(random.pick([56, 300])))],
    () => ['a bit', flipped(value, random)],
    () => ['a list', [value]],
    () => ['an empty list', []],
    () => ['a broken list', new Written(Buffer.from('c2b901', 'hex'), Buffer.from('c2b901', 'hex'))],
    () => ['a long length', lengthened(value, 1 + random.below(8))],
    () => ['a long length', lengthened(value, 1 + random.below(8))],
    () => ['a length above 32 bits', wrapped(value)],
    () => ['a marked byte', marked(value)],
    () => ['the bytes of a list', encode([value])],
  ]
  return random.pick(changes)()
}

/** Returns bytes with another bit. */
export function flipped(value, random) {
  const copy = Buffer.from(value)
  if (copy.length > 0) copy[random.below(copy.length)] ^= 1 << random.below(8)
  return copy
}

/** Returns the same element with a length of 8 bytes, of which readers with 32 bits drop the upper ones. */
export function wrapped(node) {
  const encoded = Buffer.from(lengthened(node, 8).encoded)
  encoded[1] = 1
  return new Written(encoded, Array.isArray(node) ? encoded : read(node))
}

/** Returns a single byte behind a mark that it does not need. */
function marked(value) {
  if (value.length !== 1) return lengthened(value, 1)
  return new Written(Buffer.concat([Buffer.from([0x81]), value]), value)
}
