import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { callObject, callText } from '../rpc/parameters/callObject.ts'
import { callTraceOptions } from '../rpc/parameters/traceOptions.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

export const debug_traceCall = defineMethod({
  params: positional([callObject], [callBlock, callTraceOptions]),
  result: traces.tracerResult,
  answer: (context, [call, block = 'latest', options = {}], request) =>
    request.run((deadlineMs, token) =>
      context.native.debugTraceCall(callText(call), block, JSON.stringify(options), deadlineMs, token),
    ),
})
