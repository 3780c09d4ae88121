import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_getWork = defineMethod({
  params: positional([]),
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.ethGetWork(deadlineMs, token)),
})
