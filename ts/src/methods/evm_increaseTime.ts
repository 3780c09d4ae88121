import { positional } from '../rpc/method.ts'
import { seconds } from '../rpc/parameters/seconds.ts'
import { defineMethod } from './context.ts'

export const evm_increaseTime = defineMethod({
  params: positional([seconds]),
  answer: (context, [seconds]) => context.native.evmIncreaseTime(seconds),
})
