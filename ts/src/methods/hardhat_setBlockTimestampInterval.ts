import { positional } from '../rpc/method.ts'
import { wholeSeconds } from '../rpc/parameters/wholeSeconds.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setBlockTimestampInterval = defineMethod({
  params: positional([wholeSeconds('interval', 0xffffffff)]),
  result: values.nothing,
  answer: (context, [seconds]) => context.native.anvilSetBlockTimestampInterval(seconds),
})
