import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockTransactionCountByNumber = defineMethod({
  params: positional([numberedBlock]),
  result: values.quantity,
  answer: (context, [block]) => context.native.ethGetBlockTransactionCountByNumber(block),
})
