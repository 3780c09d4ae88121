import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const hardhat_setMinGasPrice = defineMethod({
  params: positional([numberKind('price')]),
  answer: (context, [price]) => context.native.hardhatSetMinGasPrice(price),
})
