import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setMinGasPrice = defineMethod({
  params: positional([numberKind('price')]),
  result: values.flag,
  answer: (context, [price]) => context.native.hardhatSetMinGasPrice(price),
})
