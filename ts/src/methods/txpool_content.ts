import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const txpool_content = defineMethod({
  params: positional([]),
  result: node.poolContent,
  answer: (context, _none, request) =>
    request.run((deadlineMs, token) => context.native.txpoolContent(request.maxBytes, deadlineMs, token)),
})
