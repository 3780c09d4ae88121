import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_stopMining = defineMethod({
  params: positional([]),
  result: values.nothing,
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.evmStopMining(deadlineMs, token)),
})
