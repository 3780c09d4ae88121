import { positional } from '../rpc/method.ts'
import { mineOptions } from '../rpc/parameters/mineOptions.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_mine = defineMethod({
  params: positional([], [mineOptions]),
  result: values.nothing,
  answer: (context, [options = {}], request) =>
    request.run((deadlineMs, token) =>
      context.native.evmMine(options.blocks ?? 1, options.timestamp ?? -1, deadlineMs, token),
    ),
})
