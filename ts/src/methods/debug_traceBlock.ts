import { positional } from '../rpc/method.ts'
import { bytes, ofAnySize } from '../rpc/parameters/bytes.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

export const debug_traceBlock = defineMethod({
  params: positional([ofAnySize(bytes)], [traceOptions]),
  result: traces.tracerResults,
  answer: (context, [block, options = '{}'], request) =>
    request.run((deadlineMs, token) => context.native.debugTraceRawBlock(block, options, deadlineMs, token)),
})
