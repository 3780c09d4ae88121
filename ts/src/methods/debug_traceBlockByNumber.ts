import { positional } from '../rpc/method.ts'
import { tracedBlock } from '../rpc/parameters/tracedBlock.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const debug_traceBlockByNumber = defineMethod({
  params: positional([tracedBlock], [traceOptions]),
  result: values.orNull(traces.tracerResults),
  answer: (context, [block, options = '{}'], request) =>
    request.run((deadlineMs, token) => context.native.debugTraceBlock(block, options, deadlineMs, token)),
})
