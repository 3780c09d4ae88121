import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawTransactionReceiptByHash = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.data),
  answer: (context, [hash]) => context.native.rskGetRawTransactionReceiptByHash(hash),
})
