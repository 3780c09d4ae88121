import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { tracedCallOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

export const debug_traceCall = defineMethod({
  params: positional([callObject], [callBlock, tracedCallOptions]),
  result: traces.tracerResult,
  answer: (context, [call, block = 'latest', options = '{}'], request) =>
    request.run((deadlineMs, token) => context.native.debugTraceCall(call, block, options, deadlineMs, token)),
})
