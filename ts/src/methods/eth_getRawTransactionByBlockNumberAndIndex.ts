import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { listIndex } from '../rpc/parameters/listIndex.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getRawTransactionByBlockNumberAndIndex = defineMethod({
  params: positional([numberedBlock, listIndex]),
  result: values.orNull(values.data),
  answer: (context, [block, index]) => context.native.ethGetRawTransactionByBlockNumberAndIndex(block, index),
})
