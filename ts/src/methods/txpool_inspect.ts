import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const txpool_inspect = defineMethod({
  params: positional([]),
  result: node.poolTexts,
  answer: (context, _none, request) =>
    request.run((deadlineMs, token) => context.native.txpoolInspect(request.maxBytes, deadlineMs, token)),
})
