import { positional } from '../rpc/method.ts'
import { blockHash, transactionHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const rsk_getTransactionReceiptNodesByHash = defineMethod({
  params: positional([blockHash, transactionHash]),
  answer: (context, [block, hash]) => context.native.rskGetTransactionReceiptNodesByHash(block, hash),
})
