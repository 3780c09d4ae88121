import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getHeaderByNumber = defineMethod({
  params: positional([numberedBlock]),
  result: values.orNull(chain.blockHeader),
  answer: (context, [block]) => context.native.ethGetHeaderByNumber(block),
})
