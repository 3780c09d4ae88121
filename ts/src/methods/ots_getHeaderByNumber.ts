import { positional } from '../rpc/method.ts'
import { numberOrBlock } from '../rpc/parameters/otterscan.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getHeaderByNumber = defineMethod({
  params: positional([numberOrBlock]),
  result: values.orNull(chain.blockHeader),
  answer: (context, [block]) => context.native.ethGetHeaderByNumber(block),
})
