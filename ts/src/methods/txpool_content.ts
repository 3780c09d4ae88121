import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_content = defineMethod({
  params: positional([]),
  answer: (context, _none, request) =>
    request.run((deadlineMs, token) => context.native.txpoolContent(deadlineMs, token)),
})
