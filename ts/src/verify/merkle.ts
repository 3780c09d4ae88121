import { concat, isEqual } from './bytes.ts'
import { malformed } from './error.ts'
import { doubleSha256 } from './sha256.ts'

// Hashes are in the byte order of Bitcoin's wire format, unless a comment says display order (reversed).

export function reversed(hash: Uint8Array): Uint8Array {
  return hash.toReversed()
}

/** Returns the root of a branch: the coinbase is the first leaf, `siblings` go from the bottom up, in display order (RSKIP-92). */
export function rootOfBranch(coinbase: Uint8Array, siblings: Uint8Array): Uint8Array {
  let hash = coinbase
  for (let at = 0; at < siblings.length; at += 32) hash = combine(hash, reversed(siblings.subarray(at, at + 32)))
  return hash
}

/** A partial Merkle tree of Bitcoin: only the branches that lead to some leaves (BIP-37). */
export interface PartialTree {
  readonly transactionCount: number
  readonly hashes: readonly Uint8Array[]
  readonly flags: Uint8Array
}

/** Limit of transactions of a Bitcoin block, whose transactions have at least 60 bytes. */
const maxTransactions = 16_666

/** Reads a partial tree; returns undefined if its parts do not fill the bytes exactly. */
export function readPartialTree(bytes: Uint8Array): PartialTree | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 6) return undefined
  const hashCount = variable(view, 4)
  if (hashCount === undefined) return undefined
  const flagStart = hashCount.end + 32 * hashCount.value
  const flagCount = variable(view, flagStart)
  if (flagCount === undefined || flagCount.end + flagCount.value !== bytes.length) return undefined
  const hashes = Array.from({ length: hashCount.value }, (_none, index) =>
    bytes.subarray(hashCount.end + 32 * index, hashCount.end + 32 * (index + 1)),
  )
  return { transactionCount: view.getUint32(0, true), hashes, flags: bytes.subarray(flagCount.end) }
}

/** Returns the root of a partial tree and its matched leaves. Throws VerificationError if the tree is not well formed. */
export function rootOfPartialTree(tree: PartialTree): { root: Uint8Array; matches: Uint8Array[] } {
  const { transactionCount: count, hashes, flags } = tree
  const isPossible = count > 0 && count <= maxTransactions && hashes.length <= count
  if (!isPossible || flags.length * 8 < hashes.length) throw malformed('Merkle proof: impossible counts')
  const width = (height: number) => Math.ceil(count / 2 ** height)
  let [usedBits, usedHashes] = [0, 0]
  const matches: Uint8Array[] = []
  const nextHash = () => {
    const hash = hashes[usedHashes++]
    if (hash === undefined) throw malformed('Merkle proof: too few hashes')
    return hash
  }
  const visit = (height: number, position: number): Uint8Array => {
    const flagByte = flags[usedBits >> 3]
    if (flagByte === undefined) throw malformed('Merkle proof: too few flags')
    const isParent = ((flagByte >> (usedBits++ & 7)) & 1) === 1
    if (height === 0 || !isParent) {
      const hash = nextHash()
      if (height === 0 && isParent) matches.push(hash)
      return hash
    }
    const left = visit(height - 1, 2 * position)
    if (2 * position + 1 >= width(height - 1)) return combine(left, left)
    const right = visit(height - 1, 2 * position + 1)
    if (isEqual(left, right)) throw malformed('Merkle proof: equal branches')
    return combine(left, right)
  }
  let height = 0
  while (width(height) > 1) height++
  const root = visit(height, 0)
  if (usedHashes !== hashes.length || Math.ceil(usedBits / 8) !== flags.length) {
    throw malformed('Merkle proof: unused hashes or flags')
  }
  return { root, matches }
}

function variable(view: DataView, at: number): { value: number; end: number } | undefined {
  if (at >= view.byteLength) return undefined
  const first = view.getUint8(at)
  if (first < 0xfd) return { value: first, end: at + 1 }
  // No block has a count of more than 16 bits.
  return first === 0xfd && at + 3 <= view.byteLength ? { value: view.getUint16(at + 1, true), end: at + 3 } : undefined
}

function combine(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (looksLikeTransaction(concat(reversed(left), reversed(right)))) {
    throw malformed('Merkle proof: a node could be a transaction')
  }
  return doubleSha256(concat(left, right))
}

/** Returns whether 64 bytes parse as a transaction of one input and one output: such a node could be passed off as a leaf. */
function looksLikeTransaction(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const index = view.getUint32(37, true)
  const inputScript = view.getInt8(41)
  if (view.getUint8(4) !== 1 || !(index <= 1_000_000 || index === 0xffffffff)) return false
  if (inputScript < 0 || inputScript > 4) return false
  const outputs = 42 + inputScript + 4
  const amount = view.getBigInt64(outputs + 1, true)
  const outputScript = view.getInt8(outputs + 9)
  if (view.getUint8(outputs) !== 1 || amount < 1n || amount > 2_100_000_000_000_000n) return false
  return outputScript >= 0 && outputScript <= 4 && inputScript + outputScript === 4
}
