import { positional } from '../rpc/method.ts'
import { tracedTransaction, tracePosition } from '../rpc/parameters/tracePosition.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_get = defineMethod({
  params: positional([tracedTransaction, tracePosition]),
  result: values.orNull(traces.transactionTrace),
  answer: (context, [hash, position], request) =>
    request.run((deadlineMs, token) => context.native.traceGet(hash, position, deadlineMs, token)),
})
