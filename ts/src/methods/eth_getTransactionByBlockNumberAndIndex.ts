import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getTransactionByBlockNumberAndIndex = defineMethod({
  params: positional([numberedBlock, listIndex]),
  result: values.orNull(chain.transaction),
  answer: (context, [block, index]) => context.native.ethGetTransactionByBlockNumberAndIndex(block, index),
})
