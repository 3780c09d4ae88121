import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getUncleByBlockHashAndIndex = defineMethod({
  params: positional([blockHash, listIndex]),
  result: values.orNull(chain.block),
  answer: (context, [hash, index]) => context.native.ethGetUncleByBlockHashAndIndex(hash, index),
})
