import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import { defineMethod } from './context.ts'

export const eth_getRawTransactionByBlockHashAndIndex = defineMethod({
  params: positional([blockHash, listIndex]),
  answer: (context, [hash, index]) => context.native.ethGetRawTransactionByBlockHashAndIndex(hash, index),
})
