import { positional } from '../rpc/method.ts'
import { seconds } from '../rpc/parameters/seconds.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_increaseTime = defineMethod({
  params: positional([seconds]),
  result: values.quantity,
  answer: (context, [seconds]) => context.native.evmIncreaseTime(seconds),
})
