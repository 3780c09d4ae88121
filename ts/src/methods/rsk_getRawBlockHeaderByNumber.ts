import { positional } from '../rpc/method.ts'
import { headerBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawBlockHeaderByNumber = defineMethod({
  params: positional([headerBlock]),
  answer: (context, [block]) => context.native.rskGetRawBlockHeaderByNumber(block),
})
