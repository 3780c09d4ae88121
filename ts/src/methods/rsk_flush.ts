import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const rsk_flush = defineMethod({
  params: positional([]),
  answer: (context, _none, request) => request.run((deadlineMs, token) => context.native.rskFlush(deadlineMs, token)),
})
