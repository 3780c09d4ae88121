import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

export const trace_call = defineMethod({
  params: positional([callObject, traceTypes], [callBlock]),
  result: traces.replay,
  answer: (context, [call, types, block = 'latest'], request) =>
    request.run((deadlineMs, token) => context.native.traceCall(call, JSON.stringify(types), block, deadlineMs, token)),
})
