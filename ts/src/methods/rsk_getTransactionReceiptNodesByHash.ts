import { positional } from '../rpc/method.ts'
import { blockHash, transactionHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rsk_getTransactionReceiptNodesByHash = defineMethod({
  params: positional([blockHash, transactionHash]),
  result: values.orNull(values.listOf(values.data)),
  answer: (context, [block, hash]) => context.native.rskGetTransactionReceiptNodesByHash(block, hash),
})
