import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawTransactionReceiptByHash = defineMethod({
  params: positional([transactionHash]),
  answer: (context, [hash]) => context.native.rskGetRawTransactionReceiptByHash(hash),
})
