import { Type } from 'typebox'
import { address, bytesOf, data, flag, hash, listOf, orNull, quantity, shape, text, whole } from './values.ts'

// Blocks, transactions, receipts and logs.

/** Word of a signature: 32 bytes, or without leading zeros like the reference. */
const signatureWord = Type.String({ title: 'DATA(32)', pattern: '^0x[0-9a-f]{1,64}$' })

export const transaction = shape('Transaction', {
  hash,
  nonce: quantity,
  blockHash: orNull(hash),
  blockNumber: orNull(quantity),
  transactionIndex: orNull(quantity),
  from: address,
  to: orNull(address),
  gas: quantity,
  gasPrice: quantity,
  value: quantity,
  input: data,
  v: orNull(quantity),
  r: orNull(signatureWord),
  s: orNull(signatureWord),
  type: quantity,
})

export const filledTransaction = shape('FilledTransaction', { raw: data, tx: transaction })

/** Result of a call of eth_callMany. */
export const bundledCall = Type.Union([
  shape('CallValue', { value: data }),
  shape('CallError', { error: Type.String() }),
])

/** Members of a header; null if a pending or old block lacks them. */
const header = {
  number: orNull(quantity),
  hash: orNull(hash),
  parentHash: hash,
  mixHash: hash,
  nonce: orNull(bytesOf(8)),
  sha3Uncles: hash,
  logsBloom: orNull(bytesOf(256)),
  transactionsRoot: hash,
  stateRoot: hash,
  receiptsRoot: hash,
  miner: orNull(address),
  difficulty: quantity,
  totalDifficulty: quantity,
  extraData: data,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  minimumGasPrice: orNull(quantity),
  bitcoinMergedMiningHeader: data,
  bitcoinMergedMiningCoinbaseTransaction: data,
  bitcoinMergedMiningMerkleProof: data,
  hashForMergedMining: hash,
  paidFees: orNull(quantity),
  cumulativeDifficulty: quantity,
  rskPteEdges: orNull(listOf(whole)),
  baseEvent: orNull(data),
}

export const blockHeader = shape('Header', header)

export const block = shape('Block', {
  ...header,
  size: quantity,
  transactions: Type.Union([listOf(hash), listOf(transaction)]),
  uncles: listOf(hash),
})

export const log = shape('Log', {
  logIndex: quantity,
  blockNumber: quantity,
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: quantity,
  address,
  data,
  topics: listOf(hash),
  removed: Type.Optional(flag),
})

export const receipt = shape('Receipt', {
  transactionHash: hash,
  transactionIndex: quantity,
  blockHash: hash,
  blockNumber: quantity,
  cumulativeGasUsed: quantity,
  gasUsed: quantity,
  contractAddress: orNull(address),
  logs: listOf(log),
  from: address,
  to: orNull(address),
  status: quantity,
  logsBloom: bytesOf(256),
  type: quantity,
  effectiveGasPrice: quantity,
})

/** Simulated block: the block object and the result of each call. */
export const simulatedBlock = Type.Object(
  {
    number: quantity,
    calls: listOf(
      Type.Object(
        { returnData: data, logs: listOf(Type.Object({})), gasUsed: quantity, status: quantity },
        { title: 'SimulatedCall' },
      ),
    ),
  },
  { title: 'SimulatedBlock' },
)

export const blockAtHeight = shape('BlockAtHeight', { hash, totalDifficulty: quantity, inMainChain: flag })

/** Storage key: QUANTITY, or 32 bytes with `rpc.proofFormat = "rskj"`. */
const provenKey = Type.String({ title: 'QUANTITY', pattern: '^0x(0|[1-9a-f][0-9a-f]*|[0-9a-f]{64})$' })

export const accountProof = shape('AccountProof', {
  address,
  accountProof: listOf(data),
  balance: quantity,
  codeHash: hash,
  nonce: quantity,
  storageHash: hash,
  storageProof: listOf(shape('StorageProof', { key: provenKey, value: quantity, proof: listOf(data) })),
})

export const feeHistory = shape('FeeHistory', {
  oldestBlock: quantity,
  baseFeePerGas: listOf(quantity),
  gasUsedRatio: listOf(Type.Number()),
  reward: Type.Optional(listOf(listOf(quantity))),
})

export const syncStatus = shape('SyncStatus', {
  startingBlock: quantity,
  currentBlock: quantity,
  highestBlock: quantity,
  // The block that each stage has reached. The reference has no stages.
  stages: Type.Optional(
    listOf(
      shape('StageStatus', {
        stage_name: text,
        block_number: quantity,
        // Of the stage `State`.
        bytes: Type.Optional(quantity),
        total_bytes: Type.Optional(quantity),
      }),
    ),
  ),
})

export const bridgeState = shape('BridgeState', {
  btcBlockchainBestChainHeight: whole,
  rskTxsWaitingForSignatures: listOf(Type.String({ title: 'hex digits', pattern: '^[0-9a-f]{64}$' })),
})

export const work = shape('Work', {
  blockHashForMergedMining: hash,
  target: hash,
  feesPaidToMiner: Type.String({ title: 'decimal', pattern: '^[0-9]+$' }),
  notify: flag,
  parentBlockHash: hash,
})

export const submission = shape('Submission', {
  blockImportedResult: data,
  blockHash: hash,
  blockIncludedHeight: quantity,
})

export const modules = Type.Record(Type.String(), text)

/** Result of a poll: logs of a log filter, hashes of the other filters. */
export const filterChanges = Type.Union([listOf(log), listOf(hash)])
