import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesOf, concat, type Hex, hexOf, unsigned } from './bytes.ts'
import { malformed } from './error.ts'
import { type HeaderRules, isActive, type NetworkName, rulesOf } from './networks.ts'
import { decodeStrings, encode } from './rlp.ts'

/** Fields of a header. */
export interface Header {
  /** Hash of the block. */
  readonly hash: Hex
  readonly number: bigint
  readonly parentHash: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex
  readonly difficulty: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
}

/** A header with the parts that the verification of its proof of work needs. */
export interface HeaderParts {
  readonly header: Header
  /** Keccak of the header without mining fields. Miners commit to it, truncated for fork detection data. */
  readonly miningHash: Uint8Array
  readonly ummRoot: Uint8Array
  readonly bitcoinHeader: Uint8Array
  readonly merkleProof: Uint8Array
  readonly coinbase: Uint8Array
}

/** Number of elements up to and including the uncle count. */
const fixedElements = 16
const miningElements = 3

/**
 * Reads a header in its full encoding (the answer of debug_getRawHeader) and computes its hash. Checks only the encoding:
 * that is enough if the hash is compared with a trusted one. Throws VerificationError.
 */
export function decodeHeader(raw: string, network: NetworkName | HeaderRules): Header {
  return readHeader(raw, rulesOf(network)).header
}

/**
 * Builds the full encoding of a header of RSKIP-92 and later from answers that every Rootstock node gives: the raw header
 * (rsk_getRawBlockHeaderByHash), and Merkle proof and coinbase of the block (eth_getBlockByHash).
 */
export function fullHeader(
  rawHeader: string,
  block: {
    readonly bitcoinMergedMiningMerkleProof: string
    readonly bitcoinMergedMiningCoinbaseTransaction: string
  },
): Hex {
  const elements = decodeStrings(bytesOf(rawHeader, 'header'), 'header')
  const merkleProof = bytesOf(block.bitcoinMergedMiningMerkleProof, 'bitcoinMergedMiningMerkleProof')
  const coinbase = bytesOf(block.bitcoinMergedMiningCoinbaseTransaction, 'bitcoinMergedMiningCoinbaseTransaction')
  return hexOf(encode([...elements, merkleProof, coinbase]))
}

export function readHeader(raw: string, rules: HeaderRules): HeaderParts {
  const elements = decodeStrings(bytesOf(raw, 'header'), 'header')
  if (elements.length < fixedElements) throw malformed('header: too few elements')
  const fixed = elements.slice(0, fixedElements) as Uint8Array[]
  checkScalars(fixed)
  const number = unsigned(fixed[8] as Uint8Array)
  const rest = new Rest(elements.slice(fixedElements))
  // The genesis block has no later elements, even if their rules are active at height 0.
  const has = (rule: Parameters<typeof isActive>[1]) => number > 0n && isActive(rules, rule, number)
  const umm = has('rskipUMM') ? [rest.take()] : []
  const versioned = has('rskip351') ? readVersioned(rest, rules, number) : { extension: undefined }
  const mining = readMining(rest, rules, number)
  const hashed =
    versioned.extension === undefined ? fixed : fixed.with(6, extensionData(versioned, fixed[6] as Uint8Array))
  const hashedMining = isActive(rules, 'rskip92', number) ? mining.slice(0, 1) : mining
  const [parentHash, , , stateRoot, transactionsRoot, receiptsRoot, logsBloom, difficulty] = fixed.map(hexOf) as Hex[]
  const [bitcoinHeader, merkleProof, coinbase] = mining
  const nothing = new Uint8Array()
  return {
    header: {
      hash: hexOf(keccak_256(encode([...hashed, ...umm, ...hashedMining]))),
      number,
      parentHash: parentHash as Hex,
      stateRoot: stateRoot as Hex,
      transactionsRoot: transactionsRoot as Hex,
      receiptsRoot: receiptsRoot as Hex,
      logsBloom: logsBloom as Hex,
      difficulty: difficulty === '0x' ? 0n : BigInt(difficulty as Hex),
      timestamp: unsigned(fixed[11] as Uint8Array),
    },
    miningHash: keccak_256(encode([...hashed, ...umm])),
    ummRoot: umm[0] ?? nothing,
    bitcoinHeader: bitcoinHeader ?? nothing,
    merkleProof: merkleProof ?? nothing,
    coinbase: coinbase ?? nothing,
  }
}

/** Rejects numbers that are not in canonical form. A node hashes the canonical form, so other forms would have another hash. */
function checkScalars(fixed: readonly Uint8Array[]): void {
  const check = (isValid: boolean, what: string) => {
    if (!isValid) throw malformed(`header: the ${what} is not in canonical form`)
  }
  const [parentHash, unclesHash, coinbase, ...others] = fixed as [Uint8Array, Uint8Array, Uint8Array]
  check(parentHash.length === 32 && unclesHash.length === 32, 'parent or uncles hash')
  check(coinbase.length === 0 || coinbase.length === 20, 'coinbase')
  check(
    others.slice(0, 3).every((root: Uint8Array) => root.length === 32),
    'state, transactions or receipts root',
  )
  for (const { index, what, bits } of unsignedElements) {
    const bytes = fixed[index] as Uint8Array
    check(bytes[0] !== 0 && unsigned(bytes) < 2n ** bits, what)
  }
  const isGenesis = (fixed[8] as Uint8Array).length === 0
  check(isGenesis || isMinimalSigned(fixed[7] as Uint8Array), 'difficulty')
  check(((fixed[7] as Uint8Array)[0] ?? 0) < 0x80, 'difficulty')
  check(isMinimalSigned(fixed[14] as Uint8Array), 'minimum gas price')
}

const unsignedElements = [
  { index: 8, what: 'number', bits: 63n },
  { index: 10, what: 'gas used', bits: 63n },
  { index: 11, what: 'timestamp', bits: 63n },
  { index: 13, what: 'paid fees', bits: 256n },
  { index: 15, what: 'uncle count', bits: 31n },
]

/** Returns whether bytes are a two's complement number without superfluous bytes; zero is one byte or none. */
function isMinimalSigned([first, second]: Uint8Array): boolean {
  if (second === undefined) return true
  return first === 0 ? second >= 0x80 : first !== 0xff || second < 0x80
}

interface Versioned {
  /** Elements that are hashed together with the bloom; undefined for headers without a version. */
  readonly extension: readonly Uint8Array[] | undefined
  readonly version?: number
}

/** Reads version, edges and base event (RSKIP-351, RSKIP-144, RSKIP-535). */
function readVersioned(rest: Rest, rules: HeaderRules, number: bigint): Versioned {
  const [version, surplus] = rest.take()
  if ((version !== 1 && version !== 2) || surplus !== undefined) throw malformed('header: unknown version')
  const edges = isActive(rules, 'rskip144', number) ? [rest.take()] : []
  if (edges.some((bytes) => bytes.length % 2 === 1)) throw malformed('header: odd edges')
  const baseEvent = isActive(rules, 'rskip535', number) ? readBaseEvent(rest, rules, number) : []
  if (version === 1 && baseEvent.length > 0) throw malformed('header: version 1 has no base event')
  // The base event precedes the edges here, and follows them in the header.
  return {
    version,
    extension: [...(version === 2 && baseEvent.length === 0 ? [new Uint8Array()] : baseEvent), ...edges],
  }
}

function readBaseEvent(rest: Rest, rules: HeaderRules, number: bigint): Uint8Array[] {
  const isMissing = rest.count === 0 || rest.count === miningElements
  if (isMissing && number < BigInt(rules.baseEventRequiredFrom ?? 0)) return []
  return [rest.take()]
}

/** Returns the element that replaces the bloom when the header is hashed. */
function extensionData({ extension = [], version = 0 }: Versioned, bloom: Uint8Array): Uint8Array {
  if (bloom.length === 0) throw malformed('header: the bloom is missing')
  return encode([Uint8Array.of(version), keccak_256(encode([keccak_256(bloom), ...extension]))])
}

/** Reads Bitcoin header, Merkle proof and compressed coinbase: all three or nothing. */
function readMining(rest: Rest, rules: HeaderRules, number: bigint): Uint8Array[] {
  if (rest.count === 0) return []
  const elements = [rest.take(), rest.take(), rest.take()]
  if (rest.count > 0) throw malformed('header: too many elements')
  if (elements.every((element) => element.length === 0)) throw malformed('header: empty mining fields')
  const hasLength = number === 0n || !isActive(rules, 'rskip98', number) || elements[0]?.length === 80
  if (!hasLength) throw malformed('header: the Bitcoin header does not have 80 bytes')
  return elements
}

/** The elements after the fixed ones, in order. */
class Rest {
  readonly #elements: Uint8Array[]

  constructor(elements: Uint8Array[]) {
    this.#elements = elements
  }

  get count(): number {
    return this.#elements.length
  }

  take(): Uint8Array {
    const element = this.#elements.shift()
    if (element === undefined) throw malformed('header: too few elements')
    return element
  }
}

/** Returns the hash for merged mining, which follows the tag in the coinbase (docs/spec/block.md, 4.6). */
export function hashForMergedMining(parts: HeaderParts, forkData: Uint8Array): Uint8Array {
  return concat(committedHash(parts).subarray(0, 32 - forkData.length), forkData)
}

/** Returns the hash for merged mining without fork detection data. */
export function committedHash({ miningHash, ummRoot }: HeaderParts): Uint8Array {
  if (ummRoot.length === 0) return miningHash
  if (ummRoot.length !== 20) throw malformed('header: a root of user mining manifests has 20 bytes')
  return keccak_256(concat(miningHash.subarray(0, 20), ummRoot))
}
