// Proofs of work for headers of development networks: merged mining with a made-up coinbase.
import { createHash } from 'node:crypto'
import { digits, encode, keccak, numberOf, read } from './encoding.mjs'

/** Positions of a header's elements; those behind `uncleCount` depend on the rules. */
export const field = {
  parentHash: 0,
  unclesHash: 1,
  coinbase: 2,
  stateRoot: 3,
  transactionsRoot: 4,
  receiptsRoot: 5,
  bloom: 6,
  difficulty: 7,
  number: 8,
  gasLimit: 9,
  gasUsed: 10,
  timestamp: 11,
  extraData: 12,
  paidFees: 13,
  minimumGasPrice: 14,
  uncleCount: 15,
}
export const tag = Buffer.from('RSKBLOCK:')
const emptyRoot = keccak(Buffer.from([0x80]))
const miningElements = 3
/** Blocks from this number on commit to their ancestors (RSKIP-110). */
export const firstForkData = 449

/** Rules by height; absent and negative ones are never active. */
export class Heights {
  #heights

  constructor(heights) {
    this.#heights = heights
  }

  isActive(rule, number) {
    const height = this.#heights[rule] ?? -1
    return height >= 0 && number >= height
  }

  /** Returns the positions of the elements behind the uncle count, by name. */
  positions(number) {
    const names = []
    if (this.isActive('rskipUMM', number)) names.push('ummRoot')
    const isVersioned = this.isActive('rskip351', number)
    if (isVersioned) names.push('version')
    if (isVersioned && this.isActive('rskip144', number)) names.push('edges')
    if (isVersioned && this.isActive('rskip535', number)) names.push('baseEvent')
    names.push('bitcoinHeader', 'merkleProof', 'bitcoinCoinbase')
    return Object.fromEntries(names.map((name, index) => [name, field.uncleCount + 1 + index]))
  }
}

/** Returns the elements that miners commit to, written as a node writes them after it has read the header. */
function miningForm(header, positions) {
  const value = (at) => read(header[at] ?? Buffer.alloc(0))
  const unsigned = (at) => digits(numberOf(value(at)))
  const root = (at) => (value(at).length === 0 ? emptyRoot : value(at))
  const version = positions.version === undefined ? 0 : value(positions.version)[0]
  const isVersioned = version === 1 || version === 2
  const edges = positions.edges && value(positions.edges).subarray(0, value(positions.edges).length & ~1)
  const baseEvent = positions.baseEvent && value(positions.baseEvent)
  let bloom = value(field.bloom)
  if (isVersioned) {
    const parts = [keccak(bloom)]
    if (version === 2) parts.push(baseEvent ?? Buffer.alloc(0))
    if (edges !== undefined) parts.push(edges)
    bloom = encode([Buffer.from([version]), keccak(encode(parts))])
  }
  const elements = [
    value(field.parentHash),
    value(field.unclesHash),
    value(field.coinbase),
    root(field.stateRoot),
    root(field.transactionsRoot),
    root(field.receiptsRoot),
    bloom,
    signed(value(field.difficulty)),
    unsigned(field.number),
    value(field.gasLimit),
    unsigned(field.gasUsed),
    unsigned(field.timestamp),
    value(field.extraData),
    unsigned(field.paidFees),
    signed(value(field.minimumGasPrice)),
    unsigned(field.uncleCount),
  ]
  if (positions.ummRoot !== undefined) elements.push(value(positions.ummRoot))
  if (!isVersioned && edges !== undefined) elements.push(edges)
  if (!isVersioned && baseEvent !== undefined) elements.push(baseEvent)
  return elements
}

/** Returns the hash for merged mining. */
export function miningHash(header, positions, forkData) {
  let hash = keccak(encode(miningForm(header, positions)))
  const ummRoot = positions.ummRoot === undefined ? Buffer.alloc(0) : read(header[positions.ummRoot] ?? Buffer.alloc(0))
  if (ummRoot.length > 0) hash = keccak(hash.subarray(0, 20), ummRoot)
  return forkData === undefined ? hash : Buffer.concat([hash.subarray(0, 20), forkData])
}

/**
 * Returns a header with a proof of work. `options.tail` changes the bytes behind the midstate, `options.time` is that of
 * the Bitcoin header, `options.siblings` the hashes of the Merkle proof.
 */
export function sealed(header, rules, options = {}) {
  const number = Number(numberOf(read(header[field.number])) & 0xffff_ffffn)
  const positions = rules.positions(number)
  const hash = miningHash(header, positions, options.forkData)
  const tail = (options.tail ?? ((committed) => committed))(Buffer.concat([tag, hash]))
  const midstate = options.midstate ?? defaultMidstate
  const coinbase = Buffer.concat([midstate, tail])
  const id = sha256(sha256From(midstate, tail))
  const siblings = options.siblings ?? []
  const root = siblings.reduce((node, sibling) => sha256d(Buffer.concat([node, sibling])), id)
  const bitcoinHeader = Buffer.alloc(80)
  root.copy(bitcoinHeader, 36)
  bitcoinHeader.writeUInt32LE(options.time ?? Number(numberOf(read(header[field.timestamp])) & 0xffff_ffffn), 68)
  const difficulty = numberOf(read(header[field.difficulty]))
  const target = (1n << 256n) / (difficulty < 3n ? 3n : difficulty)
  for (let nonce = 0; nonce < (options.attempts ?? 10_000); nonce++) {
    bitcoinHeader.writeUInt32LE(nonce, 76)
    if (numberOf(Buffer.from(sha256d(bitcoinHeader)).reverse()) <= target) break
  }
  const isShort = rules.isActive('rskip92', number)
  const proof = isShort
    ? Buffer.concat(siblings.map((sibling) => Buffer.from(sibling).reverse()))
    : partialTree(id, siblings)
  const length = positions.bitcoinHeader
  const kept = header.slice(0, Math.max(length, header.length - (options.isReplacing === false ? 0 : miningElements)))
  return [...kept.slice(0, length), bitcoinHeader, proof, coinbase, ...kept.slice(length + miningElements)]
}

/** A proof in the format before RSKIP-92, for the first leaf of a whole tree. */
function partialTree(id, siblings) {
  const count = Buffer.alloc(4)
  count.writeUInt32LE(2 ** Math.min(siblings.length, 31))
  // Depth first: the nodes above the leaf, the leaf, then each sibling from the lowest up.
  const flags = '1'.repeat(siblings.length + 1) + '0'.repeat(siblings.length)
  const bytes = Buffer.alloc(Math.ceil(flags.length / 8))
  for (const [at, flag] of [...flags].entries()) if (flag === '1') bytes[at >> 3] |= 1 << (at & 7)
  return Buffer.concat([count, Buffer.from([siblings.length + 1]), id, ...siblings, Buffer.from([bytes.length]), bytes])
}

/** Returns the shortest two's complement bytes; no bytes stay none. */
export function signed(bytes) {
  let start = 0
  while (start + 1 < bytes.length) {
    const isNegative = bytes[start + 1] >= 0x80
    if (bytes[start] !== (isNegative ? 0xff : 0)) break
    start++
  }
  return bytes.subarray(start)
}

export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest()
}

export function sha256d(bytes) {
  return sha256(sha256(bytes))
}

/** Round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const constants = roundConstants()
const defaultMidstate = Buffer.concat([Buffer.from('0000000000000040', 'hex'), sha256(Buffer.from('midstate'))])

/** Returns the SHA-256 of a message of which `midstate` replaces the first blocks. */
export function sha256From(midstate, tail) {
  const state = Array.from({ length: 8 }, (_, index) => midstate.readUInt32BE(8 + 4 * index))
  const bits = (midstate.readBigUInt64BE(0) + BigInt(tail.length)) * 8n
  const padded = Buffer.alloc(64 * Math.ceil((tail.length + 9) / 64))
  tail.copy(padded)
  padded[tail.length] = 0x80
  padded.writeBigUInt64BE(bits & 0xffff_ffff_ffff_ffffn, padded.length - 8)
  for (let start = 0; start < padded.length; start += 64) compress(state, padded.subarray(start, start + 64))
  const out = Buffer.alloc(32)
  for (const [index, word] of state.entries()) out.writeUInt32BE(word >>> 0, 4 * index)
  return out
}

function compress(state, block) {
  const words = Array.from({ length: 64 }, (_, index) => (index < 16 ? block.readUInt32BE(4 * index) : 0))
  const turn = (word, count) => (word >>> count) | (word << (32 - count))
  for (let at = 16; at < 64; at++) {
    const [early, late] = [words[at - 15], words[at - 2]]
    const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    words[at] = (words[at - 16] + small + words[at - 7] + large) | 0
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let at = 0; at < 64; at++) {
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[at] + words[at]) | 0
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] + word) | 0
}

function roundConstants() {
  const primes = []
  for (let number = 2; primes.length < 64; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  return primes.map((prime) => {
    // floor(cbrt(prime) * 2^32) by bisection; its low 32 bits are the fraction.
    const target = BigInt(prime) << 96n
    let [low, high] = [0n, 1n << 36n]
    while (high - low > 1n) {
      const middle = (low + high) >> 1n
      if (middle ** 3n <= target) low = middle
      else high = middle
    }
    return Number(low & 0xffff_ffffn)
  })
}
