import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getTransactionByBlockHashAndIndex = defineMethod({
  params: positional([blockHash, listIndex]),
  result: values.orNull(chain.transaction),
  answer: (context, [hash, index]) => context.native.ethGetTransactionByBlockHashAndIndex(hash, index),
})
