import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigEndian, bytesOf, concat, type Hex, hexOf, isEqual, numberOf, unsigned } from './bytes.ts'
import { malformed, VerificationError } from './error.ts'
import { type Child, parseNode, type TrieNode } from './node.ts'
import { asString, decode, decodeStrings, encode } from './rlp.ts'
import { emptyRoot, walk } from './trie.ts'

/** The answer of eth_getProof, from a node or from viem (numbers as bigint or number). */
export interface AccountProof {
  readonly address: string
  readonly balance: string | bigint
  readonly codeHash: string
  readonly nonce: string | number | bigint
  readonly storageHash: string
  readonly accountProof: readonly string[]
  readonly storageProof: readonly {
    readonly key: string
    readonly value: string | bigint
    readonly proof: readonly string[]
  }[]
}

/** A proven account. */
export interface Account {
  /** False: nonce, balance, code and storage are empty. */
  readonly exists: boolean
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hex
  readonly storageHash: Hex
  /** Values of the requested storage slots, in the same order. */
  readonly storage: readonly bigint[]
}

const emptyCodeHash = keccak_256(new Uint8Array())
/** Bits of an account key, and one bit that leads from the account to its storage. */
const bitsAboveStorage = 249

/**
 * Verifies nonce, balance, code hash, storage hash and the requested storage slots of an answer of eth_getProof against the
 * state root of a trusted header. Both settings of rpc.proofFormat are understood; with `rskj` an absent account or slot has no
 * proof, and is refused. Throws VerificationError.
 */
export function verifyAccountProof(
  header: { readonly stateRoot: string },
  asked: { readonly address: string; readonly storageKeys?: readonly (string | bigint)[] },
  proof: AccountProof,
): Account {
  const address = bytesOf(asked.address, 'address', 20)
  claim(isEqual(address, bytesOf(proof.address, 'address', 20)), 'a different address was requested')
  const key = accountKey(address)
  const stateRoot = bytesOf(header.stateRoot, 'stateRoot', 32)
  const accountNodes = messages(proof.accountProof)
  const node = walk(stateRoot, key, 0, endsAt(stateRoot, accountNodes) ? accountNodes.reverse() : accountNodes)
  const exists = node?.value !== undefined
  const account = exists ? accountOf(node, proof) : { nonce: 0n, balance: 0n }
  const codeHash = exists ? codeHashOf(node) : emptyCodeHash
  const storageHash = exists ? storageHashOf(node.left) : emptyRoot
  claim(amount(proof.nonce, 'nonce') === account.nonce, 'the nonce differs')
  claim(amount(proof.balance, 'balance') === account.balance, 'the balance differs')
  claim(isEqual(bytesOf(proof.codeHash, 'codeHash', 32), codeHash), 'the code hash differs')
  claim(isEqual(bytesOf(proof.storageHash, 'storageHash', 32), storageHash), 'the storage hash differs')
  const slots = asked.storageKeys ?? []
  claim(proof.storageProof.length === slots.length, 'different storage keys were requested')
  const storage = proof.storageProof.map((slot, index) => {
    const position = amount(slots[index] as string | bigint, 'storage key')
    claim(numberOf(slot.key, 'storage key') === position, 'a different storage key was requested')
    return verifySlot({ stateRoot, storageHash }, key, position, slot)
  })
  return { exists, ...account, codeHash: hexOf(codeHash), storageHash: hexOf(storageHash), storage }
}

/** Returns the key of an account in the state (docs/spec/state.md, 3.1). */
function accountKey(address: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0), keccak_256(address).subarray(0, 10), address)
}

function verifySlot(
  { stateRoot, storageHash }: { stateRoot: Uint8Array; storageHash: Uint8Array },
  account: Uint8Array,
  position: bigint,
  slot: AccountProof['storageProof'][number],
): bigint {
  const word = bigEndian(position, 32)
  const digits = position === 0n ? Uint8Array.of(0) : bigEndian(position)
  const key = concat(account, Uint8Array.of(0), keccak_256(word).subarray(0, 10), digits)
  const nodes = messages(slot.proof)
  const node = endsAt(stateRoot, nodes)
    ? walk(stateRoot, key, 0, nodes.reverse())
    : walk(storageHash, key, bitsAboveStorage, nodes)
  const value = node?.value
  const claimed = amount(slot.value, 'storage value')
  const wrong = `the value of storage slot ${position} differs`
  if (value === undefined) claim(claimed === 0n, wrong)
  else if ('bytes' in value) claim(claimed === unsigned(value.bytes), wrong)
  // The node contains only hash and length of the value: the claimed value must match them.
  else claim(isEqual(keccak_256(bigEndian(claimed, value.length)), value.hash), wrong)
  return claimed
}

/** Returns whether a list of nodes is in the order of rskj: the root of the state is last. */
function endsAt(stateRoot: Uint8Array, nodes: readonly Uint8Array[]): boolean {
  const last = nodes.at(-1)
  return last !== undefined && isEqual(keccak_256(last), stateRoot)
}

/** Reads nonce and balance: an RLP list of both, and of flags unless these are zero (docs/spec/state.md, 4.1). */
function accountOf(node: TrieNode, proof: AccountProof): { nonce: bigint; balance: bigint } {
  if (node.value !== undefined && 'bytes' in node.value) {
    const [nonce, balance, , surplus] = decodeStrings(node.value.bytes, 'account')
    if (nonce === undefined || balance === undefined || surplus !== undefined) throw malformed('account: wrong length')
    if ((balance[0] ?? 0) >= 0x80) throw malformed('account: the balance is negative')
    return { nonce: unsigned(nonce), balance: unsigned(balance) }
  }
  const account = { nonce: amount(proof.nonce, 'nonce'), balance: amount(proof.balance, 'balance') }
  // Too long for a node: the claimed account must have the hash in the node.
  const encoded = encode([bigEndian(account.nonce), signed(account.balance)])
  const { value } = node
  claim(value !== undefined && 'hash' in value && isEqual(keccak_256(encoded), value.hash), 'the account differs')
  return account
}

/** Encodes a non-negative number as signed: its first bit is 0, and zero is one byte. */
function signed(value: bigint): Uint8Array {
  const digits = bigEndian(value)
  return digits.length === 0 || (digits[0] as number) >= 0x80 ? concat(Uint8Array.of(0), digits) : digits
}

function storageHashOf(child: Child | undefined): Uint8Array {
  if (child === undefined) return emptyRoot
  return 'hash' in child ? child.hash : keccak_256(child.embedded)
}

/** Returns the hash of the code: the right child of the account's node, a leaf of at most 38 bytes and thus embedded. */
function codeHashOf(node: TrieNode): Uint8Array {
  if (node.right === undefined) return emptyCodeHash
  if (!('embedded' in node.right)) throw malformed('account: its code is not embedded')
  const { pathBits, path, value } = parseNode(node.right.embedded)
  if (pathBits !== 7 || path[0] !== 0 || value === undefined) throw malformed('account: not its code')
  return 'hash' in value ? value.hash : keccak_256(value.bytes)
}

/** Decodes the elements of a proof, each an RLP byte string with a node message. */
function messages(elements: readonly string[]): Uint8Array[] {
  return elements.map((element) => asString(decode(bytesOf(element, 'node'), 'node'), 'node'))
}

function amount(value: string | number | bigint, what: string): bigint {
  if (typeof value === 'string') return numberOf(value, what)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw malformed(`${what}: not a whole number`)
  const whole = BigInt(value)
  if (whole < 0n) throw malformed(`${what}: negative`)
  return whole
}

function claim(isTrue: boolean, message: string): asserts isTrue {
  if (!isTrue) throw new VerificationError('claim', message)
}
