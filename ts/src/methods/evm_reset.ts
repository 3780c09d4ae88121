import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_reset = defineMethod({
  params: positional([]),
  result: values.nothing,
  answer: (context, _params, request) => request.run((deadlineMs, token) => context.native.evmReset(deadlineMs, token)),
})
