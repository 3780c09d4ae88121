import { positional } from '../rpc/method.ts'
import { timestamp } from '../rpc/parameters/mineOptions.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_setNextBlockTimestamp = defineMethod({
  params: positional([timestamp]),
  result: values.quantity,
  answer: (context, [timestamp]) => context.native.evmSetNextBlockTimestamp(timestamp),
})
