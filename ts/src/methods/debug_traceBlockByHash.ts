import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const debug_traceBlockByHash = defineMethod({
  params: positional([blockHash], [traceOptions]),
  result: values.orNull(traces.tracerResults),
  answer: (context, [hash, options = '{}'], request) =>
    request.run((deadlineMs, token) => context.native.debugTraceBlock(hash, options, deadlineMs, token)),
})
