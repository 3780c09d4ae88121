import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const debug_traceTransaction = defineMethod({
  params: positional([transactionHash], [traceOptions]),
  result: values.orNull(traces.tracerResult),
  answer: (context, [hash, options = '{}'], request) =>
    request.run((deadlineMs, token) => context.native.debugTraceTransaction(hash, options, deadlineMs, token)),
})
