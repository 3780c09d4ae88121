import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setNextBlockBaseFeePerGas = defineMethod({
  params: positional([numberKind('baseFee')]),
  result: values.flag,
  answer: () => 'true',
})
