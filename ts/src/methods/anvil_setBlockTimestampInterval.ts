import { positional } from '../rpc/method.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_setBlockTimestampInterval = defineMethod({
  params: positional([wholeNumber('interval', 0xffffffff)]),
  result: values.nothing,
  answer: (context, [seconds]) => context.native.anvilSetBlockTimestampInterval(seconds),
})
