import { positional } from '../rpc/method.ts'
import { resetOptions } from '../rpc/parameters/resetOptions.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_reset = defineMethod({
  params: positional([], [resetOptions]),
  result: values.flag,
  answer: async (context, [options], request) => {
    const forking = options?.forking === undefined ? null : JSON.stringify(options.forking)
    if (forking !== null) context.mayBeFork[0] = 1
    await request.run((deadlineMs, token) => context.native.hardhatReset(forking, deadlineMs, token))
    return 'true'
  },
})
