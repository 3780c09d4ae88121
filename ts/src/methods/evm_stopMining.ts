import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const evm_stopMining = defineMethod({
  params: positional([]),
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.evmStopMining(deadlineMs, token)),
})
