import { positional } from '../rpc/method.ts'
import { traceFilter } from '../rpc/parameters/traceFilter.ts'
import { defineMethod } from './context.ts'

export const trace_filter = defineMethod({
  params: positional([traceFilter]),
  answer: (context, [filter], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceFilter(Buffer.isBuffer(filter) ? filter : JSON.stringify(filter), deadlineMs, token),
    ),
})
