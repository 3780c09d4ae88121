import { sha256 } from '@noble/hashes/sha2.js'
import { concat, isEqual, lastIndexOf, unsigned } from './bytes.ts'
import { VerificationError, type WorkFault } from './error.ts'
import { committedHash, type Header, type HeaderParts, hashForMergedMining, readHeader } from './header.ts'
import { readPartialTree, reversed, rootOfBranch, rootOfPartialTree } from './merkle.ts'
import { type HeaderRules, isActive, type NetworkName, rulesOf } from './networks.ts'
import { doubleSha256, sha256From } from './sha256.ts'

/** Tag before the hash in a coinbase. */
const tag = new TextEncoder().encode('RSKBLOCK:')
const forkDataBytes = 12
/** From this height on, with RSKIP-110, the last bytes of the hash for merged mining are fork detection data. */
const forkDataFrom = 449n
/** Midstate: byte count and eight words. */
const midstateBytes = 40
const tagWindow = 64
const maxBytesAfterHash = 128
/** Before RSKIP-98, blocks with at most this difficulty may be signed instead of mined. */
const fallbackDifficulty = 14_000_000_000_000_000n
/** Longest Merkle proof from RSKIP-180 on: 30 hashes. */
const longestProof = 960

/**
 * Reads a header in its full encoding (the answer of debug_getRawHeader) and verifies its proof of work: a Bitcoin header
 * that meets the difficulty, and a coinbase transaction of that Bitcoin block that commits to this header. Throws
 * VerificationError.
 *
 * Proves the work in this header, not that its chain is the best chain. Signed blocks of mainnet below 729,000 have no
 * proof of work and are rejected.
 */
export function verifyHeader(raw: string, network: NetworkName | HeaderRules): Header {
  const rules = rulesOf(network)
  const parts = readHeader(raw, rules)
  checkWork(parts, rules)
  return parts.header
}

/** Verifies the proof of work in the order of docs/spec/block.md, 5.1. */
function checkWork(parts: HeaderParts, rules: HeaderRules): void {
  const { header, bitcoinHeader, merkleProof, coinbase } = parts
  const has = (rule: Parameters<typeof isActive>[1]) => isActive(rules, rule, header.number)
  const isUnmined = coinbase.length === 0 && merkleProof.length === 0 && header.difficulty <= fallbackDifficulty
  check(
    has('rskip98') || !isUnmined,
    'fallback-signature',
    'the block is signed instead of mined, or has no mining fields',
  )
  const isMined = [bitcoinHeader, merkleProof, coinbase].some((element) => element.length > 0)
  check(isMined, 'merkle-proof-format', 'there is no proof of work')
  const hasFormat = has('rskip92')
    ? merkleProof.length % 32 === 0 && (!has('rskip180') || merkleProof.length <= longestProof)
    : readPartialTree(merkleProof) !== undefined
  check(hasFormat, 'merkle-proof-format', 'the Merkle proof has an invalid format')
  check(coinbase.length > 0, 'coinbase-too-short', 'there is no coinbase')
  check(bitcoinHeader.length === 80, 'bitcoin-header', 'the Bitcoin header does not have 80 bytes')
  const work = unsigned(reversed(doubleSha256(bitcoinHeader)))
  check(work <= target(header.difficulty), 'target', 'the Bitcoin block has too little work')
  check(coinbase.length >= midstateBytes, 'coinbase-too-short', 'the coinbase is shorter than a midstate')
  const tail = coinbase.subarray(midstateBytes)
  checkTag(tail, commitment(parts, rules))
  const byteCount = new DataView(coinbase.buffer, coinbase.byteOffset).getBigInt64(0)
  check(byteCount + BigInt(tail.length) > 64n, 'coinbase-too-short', 'the coinbase is too short')
  const first = sha256From(coinbase.subarray(8, midstateBytes), byteCount, tail)
  const isThere = isInBlock(sha256(first), merkleProof, bitcoinHeader.subarray(36, 68), has('rskip92'))
  check(isThere, 'merkle-proof', 'the coinbase is not in the Bitcoin block')
}

/** Returns the largest hash that meets a difficulty; difficulties below 3 count as 3. */
function target(difficulty: bigint): bigint {
  return 2n ** 256n / (difficulty < 3n ? 3n : difficulty)
}

/** Returns the tag and the hash for merged mining, with the fork detection data of the coinbase. */
function commitment(parts: HeaderParts, rules: HeaderRules): Uint8Array {
  const { header, coinbase } = parts
  if (!isActive(rules, 'rskip110', header.number) || header.number < forkDataFrom) {
    return concat(tag, committedHash(parts))
  }
  const prefix = concat(tag, committedHash(parts).subarray(0, 32 - forkDataBytes))
  const at = lastIndexOf(coinbase, prefix)
  const forkData = coinbase.subarray(at + prefix.length, at + prefix.length + forkDataBytes)
  check(at >= 0 && forkData.length === forkDataBytes, 'tag-not-found', 'the coinbase does not commit to this header')
  return concat(tag, hashForMergedMining(parts, forkData))
}

function checkTag(tail: Uint8Array, commitment: Uint8Array): void {
  const at = lastIndexOf(tail, commitment)
  check(at >= 0, 'tag-not-found', 'the coinbase does not commit to this header')
  check(at < tagWindow, 'tag-position', 'the tag is too far from the start of the coinbase tail')
  check(lastIndexOf(tail, tag) === at, 'tag-not-last', 'the coinbase contains a later tag')
  const after = tail.length - at - commitment.length
  check(after <= maxBytesAfterHash, 'too-many-bytes-after-tag', 'too many bytes after the tag')
}

/** Returns whether the proof leads from the coinbase to the root in the Bitcoin header. */
function isInBlock(coinbase: Uint8Array, proof: Uint8Array, root: Uint8Array, isBranch: boolean): boolean {
  try {
    if (isBranch) return isEqual(rootOfBranch(coinbase, proof), root)
    const tree = readPartialTree(proof)
    if (tree === undefined) return false
    const found = rootOfPartialTree(tree)
    return isEqual(found.root, root) && found.matches.some((match) => isEqual(match, coinbase))
  } catch (error) {
    if (error instanceof VerificationError) return false
    throw error
  }
}

function check(isTrue: boolean, fault: WorkFault, message: string): asserts isTrue {
  if (!isTrue) throw new VerificationError(fault, message)
}
