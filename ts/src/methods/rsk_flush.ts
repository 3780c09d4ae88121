import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rsk_flush = defineMethod({
  params: positional([]),
  result: values.nothing,
  answer: (context, _none, request) => request.run((deadlineMs, token) => context.native.rskFlush(deadlineMs, token)),
})
