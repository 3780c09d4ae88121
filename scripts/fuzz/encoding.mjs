// RLP of damaged objects. A node is a Buffer (a string), an array (a list) or a Written, which is encoded as it is.
import { decodeRlp, getBytes, hexlify, keccak256 } from 'ethers'

/** An element in its own encoding, with the bytes that a lenient reader takes from it. */
export class Written {
  constructor(encoded, value) {
    this.encoded = encoded
    this.value = value
  }
}

/** Returns the nodes of an encoding. */
export function decode(bytes) {
  const nodes = (decoded) => (Array.isArray(decoded) ? decoded.map(nodes) : Buffer.from(decoded.slice(2), 'hex'))
  return nodes(decodeRlp(hexlify(bytes)))
}

export function encode(node) {
  if (node instanceof Written) return node.encoded
  if (Array.isArray(node)) return joined(0xc0, Buffer.concat(node.map(encode)))
  return node.length === 1 && node[0] < 0x80 ? node : joined(0x80, node)
}

/** Returns the bytes of a node; of a list those of its encoding. */
export function read(node) {
  if (node instanceof Written) return node.value
  return Array.isArray(node) ? encode(node) : node
}

/** Returns the same element with `digits` bytes of length, which would not be necessary. */
export function lengthened(node, digits) {
  const content = Array.isArray(node) ? Buffer.concat(node.map(encode)) : read(node)
  const length = Buffer.alloc(digits)
  for (let at = digits - 1, rest = content.length; at >= 0; at--, rest >>>= 8) length[at] = rest & 255
  const mark = (Array.isArray(node) ? 0xf7 : 0xb7) + digits
  const encoded = Buffer.concat([Buffer.from([mark]), length, content])
  return new Written(encoded, Array.isArray(node) ? encoded : content)
}

export function keccak(...parts) {
  return Buffer.from(getBytes(keccak256(Buffer.concat(parts))))
}

/** Returns a number as the shortest bytes; 0 has none. */
export function digits(number) {
  const text = BigInt(number).toString(16)
  return number === 0 || number === 0n
    ? Buffer.alloc(0)
    : Buffer.from(text.padStart(text.length + (text.length % 2), '0'), 'hex')
}

export function numberOf(bytes) {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
}

function joined(mark, content) {
  if (content.length < 56) return Buffer.concat([Buffer.from([mark + content.length]), content])
  const length = digits(content.length)
  return Buffer.concat([Buffer.from([mark + 55 + length.length]), length, content])
}
