import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigEndian, bytesOf, type Hex, hexOf, isEqual, unsigned } from './bytes.ts'
import { malformed, VerificationError } from './error.ts'
import { asList, asString, decode, encode, type Item } from './rlp.ts'
import { walk } from './trie.ts'

/** A proven receipt. */
export interface Receipt {
  readonly isSuccess: boolean
  readonly cumulativeGas: bigint
  readonly gasUsed: bigint
  readonly logsBloom: Hex
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
}

/**
 * Verifies the receipt of the transaction at an index of a block against the receipts root of a trusted header. `receipt`
 * is the answer of rsk_getRawTransactionReceiptByHash, `nodes` that of rsk_getTransactionReceiptNodesByHash, leaf first. A
 * receipt does not contain its transaction; only the index identifies it. Throws VerificationError.
 */
export function verifyReceiptProof(
  header: { readonly receiptsRoot: string },
  index: number,
  receipt: string,
  nodes: readonly string[],
): Receipt {
  if (!Number.isSafeInteger(index) || index < 0) throw malformed('index: not a position')
  const messages = nodes.map((node) => bytesOf(node, 'node')).reverse()
  const key = encode(bigEndian(BigInt(index)))
  const value = walk(bytesOf(header.receiptsRoot, 'receiptsRoot', 32), key, 0, messages)?.value
  const raw = bytesOf(receipt, 'receipt')
  // A receipt contains a bloom and is always too long to be embedded in a node.
  const isProven = value !== undefined && 'hash' in value && isEqual(keccak_256(raw), value.hash)
  if (!isProven) throw new VerificationError('claim', `this is not receipt ${index} of the block`)
  return read(raw)
}

function read(raw: Uint8Array): Receipt {
  const fields = asList(decode(raw, 'receipt'), 'receipt')
  if (fields.length !== 6) throw malformed('receipt: six elements are expected')
  const [, cumulativeGas, bloom, logs, gasUsed, status] = fields
  return {
    isSuccess: unsigned(asString(status, 'status')) === 1n,
    cumulativeGas: unsigned(asString(cumulativeGas, 'cumulativeGas')),
    gasUsed: unsigned(asString(gasUsed, 'gasUsed')),
    logsBloom: hexOf(asString(bloom, 'logsBloom')),
    logs: asList(logs, 'logs').map(readLog),
  }
}

function readLog(log: Item): Receipt['logs'][number] {
  const [address, topics, data] = asList(log, 'log')
  return {
    address: hexOf(asString(address, 'address')),
    topics: asList(topics, 'topics').map((topic) => hexOf(asString(topic, 'topic'))),
    data: hexOf(asString(data, 'data')),
  }
}
