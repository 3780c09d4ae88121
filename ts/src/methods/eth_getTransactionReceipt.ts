import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getTransactionReceipt = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(chain.receipt),
  answer: (context, [hash]) => context.native.ethGetTransactionReceipt(hash),
})
