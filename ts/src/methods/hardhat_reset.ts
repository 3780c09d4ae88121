import { positional } from '../rpc/method.ts'
import { resetOptions } from '../rpc/parameters/resetOptions.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_reset = defineMethod({
  params: positional([], [resetOptions]),
  result: values.flag,
  answer: async (context, _params, request) => {
    await request.run((deadlineMs, token) => context.native.evmReset(deadlineMs, token))
    return 'true'
  },
})
