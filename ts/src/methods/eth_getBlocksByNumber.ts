import { positional } from '../rpc/method.ts'
import { height } from '../rpc/parameters/height.ts'
import { defineMethod } from './context.ts'

export const eth_getBlocksByNumber = defineMethod({
  params: positional([height]),
  answer: (context, [number]) => context.native.ethGetBlocksByNumber(number),
})
