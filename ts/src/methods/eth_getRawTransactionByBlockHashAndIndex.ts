import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getRawTransactionByBlockHashAndIndex = defineMethod({
  params: positional([blockHash, listIndex]),
  result: values.orNull(values.data),
  answer: (context, [hash, index]) => context.native.ethGetRawTransactionByBlockHashAndIndex(hash, index),
})
