import { positional } from '../rpc/method.ts'
import { resetOptions } from '../rpc/parameters/resetOptions.ts'
import { defineMethod } from './context.ts'

export const hardhat_reset = defineMethod({
  params: positional([], [resetOptions]),
  answer: async (context, _params, flight) => {
    await flight.run((deadlineMs, ticket) => context.native.evmReset(deadlineMs, ticket))
    return 'true'
  },
})
