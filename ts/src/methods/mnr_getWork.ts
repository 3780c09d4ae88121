import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const mnr_getWork = defineMethod({
  params: positional([]),
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.mnrGetWork(deadlineMs, token)),
})
