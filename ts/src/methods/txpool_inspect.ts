import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_inspect = defineMethod({
  params: positional([]),
  answer: (context, _none, request) =>
    request.run((deadlineMs, token) => context.native.txpoolInspect(deadlineMs, token)),
})
