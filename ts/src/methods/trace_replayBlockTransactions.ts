import { positional } from '../rpc/method.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_replayBlockTransactions = defineMethod({
  params: positional([tracedBlockOrHash, traceTypes]),
  result: values.orNull(values.listOf(traces.replayOfTransaction)),
  answer: (context, [block, types], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceReplayBlockTransactions(block, JSON.stringify(types), deadlineMs, token),
    ),
})
