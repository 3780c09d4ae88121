import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const debug_getRawReceipts = defineMethod({
  params: positional([stateBlock]),
  result: values.orNull(values.listOf(values.data)),
  answer: (context, [block]) => context.native.debugGetRawReceipts(block),
})
