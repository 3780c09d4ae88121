import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockReceipts = defineMethod({
  params: positional([stateBlock]),
  result: values.orNull(values.listOf(chain.receipt)),
  answer: (context, [block]) => context.native.ethGetBlockReceipts(block),
})
