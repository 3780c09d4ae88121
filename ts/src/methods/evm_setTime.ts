import { positional } from '../rpc/method.ts'
import { timestamp } from '../rpc/parameters/mineOptions.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_setTime = defineMethod({
  params: positional([timestamp]),
  result: values.whole,
  answer: (context, [timestamp]) => context.native.evmSetTime(timestamp),
})
