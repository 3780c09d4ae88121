import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_transaction = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.listOf(traces.transactionTrace)),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.traceTransaction(hash, deadlineMs, token)),
})
