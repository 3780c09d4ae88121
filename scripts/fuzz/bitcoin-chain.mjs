// A stand-in for Bitcoin's regtest in a search against a reference node: blocks with witness commitments, forks, proofs, and
// signatures of federations.
import { Address, OutScript, RawTx, Script, SigHash, TEST_NETWORK } from '@scure/btc-signer'
import { concatBytes, sha256x2, signECDSA } from '@scure/btc-signer/utils'

/** Seconds between two blocks. */
const blockSeconds = 600
const genesis = Buffer.from(
  `01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000`,
  'hex',
)
/** Value that a coinbase reserves in its witness. */
export const reservedValue = Buffer.alloc(32)

/** Blocks with their transactions; each has `id` and, in the tree of witnesses, `witnessId`, both as they are hashed. */
export class BitcoinChain {
  /** Outputs by `id:index`. */
  outputs = new Map()
  tip = { header: genesis, height: 0, transactions: [] }
  /** Number of mined blocks. */
  #count = 0

  /** Mines a block on top of a parent. */
  mine(transactions, parent = this.tip) {
    const height = parent.height + 1
    const witnessIds = [Buffer.alloc(32), ...transactions.map(({ witnessId }) => witnessId)]
    const hasCommitment = transactions.some(({ id, witnessId }) => !id.equals(witnessId))
    const witnessRoot = rootOf(witnessIds)
    const commitment = Buffer.from(sha256x2(witnessRoot, reservedValue))
    const outputs = hasCommitment
      ? [{ script: Buffer.from(`6a24aa21a9ed${commitment.toString('hex')}`, 'hex'), amount: 0n }]
      : []
    const all = [coinbase(height, this.#count++, outputs), ...transactions]
    const ids = all.map(({ id }) => id)
    const block = {
      height,
      parent,
      transactions: all,
      ids,
      witnessIds,
      witnessRoot,
      header: headerOn(parent.header, rootOf(ids)),
    }
    block.hash = idOf(block.header)
    for (const transaction of all) this.#keepOutputs(transaction)
    if (height > this.tip.height) this.tip = block
    return block
  }

  /** Returns up to `count` blocks before and with a block, lowest first. */
  branch(count, block = this.tip) {
    const blocks = []
    for (let each = block; each.parent !== undefined && blocks.length < count; each = each.parent) blocks.unshift(each)
    return blocks
  }

  #keepOutputs({ raw, id }) {
    for (const [index, output] of decoded(raw).outputs.entries())
      this.outputs.set(outpoint(displayed(id), index), output)
  }
}

/** Encodes a transaction. */
export function transactionOf({ version = 2, inputs, outputs, witnesses = [] }) {
  const segwitFlag = witnesses.some((witness) => witness.length > 0)
  const fields = { version, inputs, outputs, lockTime: 0 }
  const encode = (isLong) =>
    Buffer.from(RawTx.encode({ ...fields, segwitFlag: isLong, witnesses: isLong ? witnesses : [] }))
  const [plain, raw] = [encode(false), encode(segwitFlag)]
  return { raw, plain, id: idOf(plain), witnessId: idOf(raw) }
}

/** Returns the transaction of encoded bytes. */
export function parsed(raw) {
  const { version, inputs, outputs, witnesses } = decoded(raw)
  return transactionOf({ version, inputs, outputs, witnesses })
}

export function decoded(raw) {
  const transaction = RawTx.decode(raw)
  return { ...transaction, witnesses: transaction.witnesses ?? [] }
}

/** Returns the partial Merkle tree (BIP37) that proves one of the leaves. */
export function proofOf(leaves, index) {
  const levels = levelsOf(leaves)
  const hashes = []
  const bits = []
  const visit = (height, position) => {
    const isAbove = index >> height === position
    bits.push(isAbove)
    if (!isAbove || height === 0) hashes.push(levels[height][position])
    else
      for (const child of [2 * position, 2 * position + 1])
        if (child < levels[height - 1].length) visit(height - 1, child)
  }
  visit(levels.length - 1, 0)
  const flags = Buffer.alloc(Math.ceil(bits.length / 8))
  for (const [bit, isSet] of bits.entries()) if (isSet) flags[bit >> 3] |= 1 << (bit & 7)
  const count = Buffer.alloc(4)
  count.writeUInt32LE(leaves.length)
  return Buffer.concat([count, Buffer.from([hashes.length]), ...hashes, Buffer.from([flags.length]), flags])
}

/** Signs all inputs of a transaction of a federation. `amountOf` returns the amount of an outpoint. Signatures are DER. */
export function federationSignatures(raw, key, amountOf) {
  const transaction = decoded(raw)
  return transaction.inputs.map((_input, index) => {
    const hash = signatureHash(transaction, index, amountOf)
    return Buffer.from(signECDSA(hash, key))
  })
}

/** Returns the hash that a federation signs for an input. */
export function signatureHash(transaction, index, amountOf) {
  const witness = transaction.witnesses[index] ?? []
  const input = transaction.inputs[index]
  const script = witness.at(-1) ?? pushesOf(input.finalScriptSig).at(-1) ?? Buffer.alloc(0)
  const kind = Buffer.from([SigHash.ALL, 0, 0, 0])
  if (witness.length > 0) return sha256x2(witnessPreimage(transaction, index, script, amountOf(input)), kind)
  const inputs = transaction.inputs.map((each, other) => ({
    ...each,
    finalScriptSig: other === index ? script : Buffer.alloc(0),
  }))
  return sha256x2(RawTx.encode({ ...transaction, inputs, segwitFlag: false, witnesses: [] }), kind)
}

/** Returns the form of BIP143, without the kind of the signature. */
function witnessPreimage({ version, inputs, outputs }, index, script, amount) {
  // Parts of a transaction that encodes nothing else.
  const encoded = inputs.map(({ txid, index: at, sequence }) => [
    Buffer.concat([Buffer.from(txid).reverse(), number(at)]),
    number(sequence),
  ])
  const outputBytes = RawTx.encode({ version, segwitFlag: false, inputs: [], outputs, witnesses: [], lockTime: 0 })
  const countLength = outputs.length < 253 ? 1 : 3
  return concatBytes(
    number(version),
    sha256x2(...encoded.map(([point]) => point)),
    sha256x2(...encoded.map(([, sequence]) => sequence)),
    encoded[index][0],
    withLength(script),
    number64(amount),
    encoded[index][1],
    sha256x2(outputBytes.slice(5 + countLength, -4)),
    number(0),
  )
}

/** Returns the pushed data of a script, or nothing if it cannot be parsed. */
export function pushesOf(script) {
  try {
    return Script.decode(script).map((part) =>
      typeof part === 'string' ? Buffer.alloc(0) : typeof part === 'number' ? Buffer.from([part]) : part,
    )
  } catch {
    return []
  }
}

/** Returns the output script of an address of regtest. */
export function scriptOf(address) {
  return Buffer.from(OutScript.encode(Address(TEST_NETWORK).decode(address)))
}

export function idOf(bytes) {
  return Buffer.from(sha256x2(bytes))
}

/** Returns a hash in display order. */
export function displayed(hash) {
  return Buffer.from(hash).reverse().toString('hex')
}

export function outpoint(id, index) {
  return `${id}:${index}`
}

/** `count` makes those of two branches differ. */
function coinbase(height, count, outputs) {
  const finalScriptSig = Script.encode([Buffer.concat([number(height), number(count)])])
  const inputs = [{ txid: new Uint8Array(32), index: 0xffffffff, finalScriptSig, sequence: 0xffffffff }]
  return transactionOf({
    version: 1,
    inputs,
    outputs: [{ script: Script.encode([1]), amount: 5_000_000_000n }, ...outputs],
  })
}

/** Mines a header. On regtest every second hash is a proof of work. */
function headerOn(parent, root) {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(0x20000000, 0)
  header.set(sha256x2(parent), 4)
  header.set(root, 36)
  header.writeUInt32LE(parent.readUInt32LE(68) + blockSeconds, 68)
  parent.copy(header, 72, 72, 76)
  while (sha256x2(header)[31] > 0x7f) header.writeUInt32LE(header.readUInt32LE(76) + 1, 76)
  return header
}

function rootOf(leaves) {
  return levelsOf(leaves).at(-1)[0]
}

/** Returns the levels of the Merkle tree, leaves first. The last node of an odd level is paired with itself. */
function levelsOf(leaves) {
  const levels = [leaves]
  while (levels.at(-1).length > 1) levels.push(parentsOf(levels.at(-1)))
  return levels
}

/** Returns the level of a Merkle tree above a lower one. */
export function parentsOf(level) {
  return Array.from({ length: Math.ceil(level.length / 2) }, (_none, index) =>
    idOf(Buffer.concat([level[2 * index], level[2 * index + 1] ?? level[2 * index]])),
  )
}

function number(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function number64(value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function withLength(bytes) {
  const length =
    bytes.length < 253 ? Buffer.from([bytes.length]) : Buffer.from([253, bytes.length & 255, bytes.length >> 8])
  return Buffer.concat([length, Buffer.from(bytes)])
}
