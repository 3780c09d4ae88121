import { positional } from '../rpc/method.ts'
import { height } from '../rpc/parameters/height.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBlocksByNumber = defineMethod({
  params: positional([height]),
  result: values.listOf(chain.blockAtHeight),
  answer: (context, [number]) => context.native.ethGetBlocksByNumber(number),
})
