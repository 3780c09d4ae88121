import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const debug_getRawBlock = defineMethod({
  params: positional([stateBlock]),
  answer: (context, [block]) => context.native.debugGetRawBlock(block),
})
