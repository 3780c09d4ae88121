import { positional } from '../rpc/method.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_setIntervalMining = defineMethod({
  params: positional([wholeNumber('interval', 0xffffffff)]),
  result: values.flag,
  answer: (context, [milliseconds]) => context.native.evmSetIntervalMining(milliseconds),
})
