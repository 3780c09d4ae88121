import { keccak_256 } from '@noble/hashes/sha3.js'
import { isEqual } from './bytes.ts'
import { VerificationError } from './error.ts'
import { bit, parseNode, type TrieNode } from './node.ts'

/** Root of an empty trie: Keccak of the RLP of an empty byte string. */
export const emptyRoot = keccak_256(Uint8Array.of(0x80))

/**
 * Follows a list of node messages, root first, from a trusted root to a key. Returns the node at the key, or undefined if
 * the list proves that the key has no node. Throws VerificationError.
 *
 * `firstBit`: number of bits of the key above the root. Embedded nodes are separate elements of the list; they are compared
 * with the bytes in their parent instead of hashed.
 */
export function walk(
  root: Uint8Array,
  key: Uint8Array,
  firstBit: number,
  messages: readonly Uint8Array[],
): TrieNode | undefined {
  if (isEqual(root, emptyRoot)) {
    if (messages.length > 0) throw fault(0, 'superfluous: the trie is empty')
    return undefined
  }
  let isExpected = (message: Uint8Array) => isEqual(keccak_256(message), root)
  let at = firstBit
  for (const [index, message] of messages.entries()) {
    if (!isExpected(message)) throw fault(index, 'not the node that its parent, or the root, commits to')
    const node = parseNode(message)
    const isOnPath = continues(key, at, node)
    at += node.pathBits
    const isThere = isOnPath && at === key.length * 8
    const child = isOnPath && !isThere ? (bit(key, at) === 1 ? node.right : node.left) : undefined
    if (child === undefined) {
      if (index + 1 < messages.length) throw fault(index + 1, 'superfluous: the key is decided before it')
      return isThere ? node : undefined
    }
    at += 1
    isExpected =
      'hash' in child ? (next) => isEqual(keccak_256(next), child.hash) : (next) => isEqual(next, child.embedded)
  }
  throw fault(messages.length, 'missing: the key is not decided')
}

/** Returns whether the key continues with the path of a node. */
function continues(key: Uint8Array, at: number, node: TrieNode): boolean {
  if (at + node.pathBits > key.length * 8) return false
  for (let offset = 0; offset < node.pathBits; offset++) {
    if (bit(node.path, offset) !== bit(key, at + offset)) return false
  }
  return true
}

function fault(index: number, what: string): VerificationError {
  return new VerificationError('proof', `node ${index} of the proof: ${what}`)
}
