import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getRawTransactionByHash = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.data),
  answer: (context, [hash]) => context.native.ethGetRawTransactionByHash(hash),
})
