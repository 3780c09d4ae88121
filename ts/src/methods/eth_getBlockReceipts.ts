import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockReceipts = defineMethod({
  params: positional([stateBlock]),
  answer: (context, [block]) => context.native.ethGetBlockReceipts(block),
})
