import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_replayTransaction = defineMethod({
  params: positional([transactionHash, traceTypes]),
  result: values.orNull(traces.replay),
  answer: (context, [hash, types], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceReplayTransaction(hash, JSON.stringify(types), deadlineMs, token),
    ),
})
