import { positional } from '../rpc/method.ts'
import { traceFilter } from '../rpc/parameters/traceFilter.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_filter = defineMethod({
  params: positional([traceFilter]),
  result: values.listOf(traces.transactionTrace),
  answer: (context, [filter], request) =>
    request.run((deadlineMs, token) => context.native.traceFilter(filter, deadlineMs, token)),
})
