import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const eth_getRawTransactionByHash = defineMethod({
  params: positional([transactionHash]),
  answer: (context, [hash]) => context.native.ethGetRawTransactionByHash(hash),
})
