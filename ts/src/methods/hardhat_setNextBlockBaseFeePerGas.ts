import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const hardhat_setNextBlockBaseFeePerGas = defineMethod({
  params: positional([numberKind('baseFee')]),
  answer: () => 'true',
})
