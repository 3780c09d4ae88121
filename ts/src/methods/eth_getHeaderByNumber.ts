import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const eth_getHeaderByNumber = defineMethod({
  params: positional([numberedBlock]),
  answer: (context, [block]) => context.native.ethGetHeaderByNumber(block),
})
