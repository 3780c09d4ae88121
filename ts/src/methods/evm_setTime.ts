import { positional } from '../rpc/method.ts'
import { timestamp } from '../rpc/parameters/mineOptions.ts'
import { defineMethod } from './context.ts'

export const evm_setTime = defineMethod({
  params: positional([timestamp]),
  answer: (context, [timestamp]) => context.native.evmSetTime(timestamp),
})
