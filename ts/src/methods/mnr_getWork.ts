import { positional } from '../rpc/method.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const mnr_getWork = defineMethod({
  params: positional([]),
  result: chain.work,
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.mnrGetWork(deadlineMs, token)),
})
