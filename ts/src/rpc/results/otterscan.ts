import { Type } from 'typebox'
import { block, receipt, transaction } from './chain.ts'
import { address, data, flag, hash, listOf, nothing, orNull, quantity, shape, whole } from './values.ts'

// Results of ots_*: blocks and receipts without their long members.

const { transactions: _transactions, ...members } = block.properties
const summary = { ...members, baseFeePerGas: quantity, logsBloom: nothing, transactionCount: whole }

export const blockDetails = shape('BlockDetails', {
  block: shape('BlockSummary', summary),
  issuance: shape('Issuance', { blockReward: quantity, uncleReward: quantity, issuance: quantity }),
  totalFees: quantity,
})

export const blockTransactions = shape('BlockTransactions', {
  fullblock: shape('BlockPage', { ...summary, transactions: listOf(transaction) }),
  receipts: listOf(shape('ReceiptSummary', { ...receipt.properties, logs: nothing, logsBloom: nothing })),
})

export const foundTransactions = shape('FoundTransactions', {
  txs: listOf(transaction),
  receipts: listOf(shape('TimedReceipt', { ...receipt.properties, timestamp: whole })),
  firstPage: flag,
  lastPage: flag,
})

/** `type`: 0 transfer, 1 self-destruct, 2 CREATE, 3 CREATE2. */
export const operation = shape('InternalOperation', {
  type: Type.Enum([0, 1, 2, 3]),
  from: address,
  to: address,
  value: quantity,
})

export const traceEntry = shape('TraceEntry', {
  type: Type.Enum(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']),
  depth: whole,
  from: address,
  to: address,
  value: orNull(quantity),
  input: data,
  output: data,
})

export const contractCreator = shape('ContractCreator', { hash, creator: address })
