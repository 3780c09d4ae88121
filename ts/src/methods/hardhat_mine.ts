import { positional } from '../rpc/method.ts'
import { blockCount } from '../rpc/parameters/mineOptions.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_mine = defineMethod({
  params: positional([], [blockCount, wholeNumber('interval', 0xffffffff)]),
  result: values.flag,
  answer: (context, [blocks = 1, interval = -1], request) =>
    request.run((deadlineMs, token) => context.native.hardhatMine(blocks, interval, deadlineMs, token)),
})
