import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getUncleByBlockNumberAndIndex = defineMethod({
  params: positional([numberedBlock, listIndex]),
  result: values.orNull(chain.block),
  answer: (context, [block, index]) => context.native.ethGetUncleByBlockNumberAndIndex(block, index),
})
