import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const eth_getUncleCountByBlockNumber = defineMethod({
  params: positional([numberedBlock]),
  answer: (context, [block]) => context.native.ethGetUncleCountByBlockNumber(block),
})
