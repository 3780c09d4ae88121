import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { wantedCalls } from '../rpc/parameters/wantedCalls.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_callMany = defineMethod({
  params: positional([wantedCalls], [callBlock]),
  result: values.listOf(traces.replay),
  answer: (context, [calls, block = 'latest'], request) =>
    request.run((deadlineMs, token) => context.native.traceCallMany(calls, block, deadlineMs, token)),
})
