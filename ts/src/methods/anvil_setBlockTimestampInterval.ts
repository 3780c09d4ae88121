import { positional } from '../rpc/method.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import { defineMethod } from './context.ts'

export const anvil_setBlockTimestampInterval = defineMethod({
  params: positional([wholeNumber('interval', 0xffffffff)]),
  answer: (context, [seconds]) => context.native.anvilSetBlockTimestampInterval(seconds),
})
