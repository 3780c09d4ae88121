import { positional } from '../rpc/method.ts'
import { headerBlock } from '../rpc/parameters/block.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawBlockHeaderByNumber = defineMethod({
  params: positional([headerBlock]),
  result: values.orNull(values.data),
  answer: (context, [block]) => context.native.rskGetRawBlockHeaderByNumber(block),
})
