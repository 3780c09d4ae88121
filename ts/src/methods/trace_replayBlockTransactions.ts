import { positional } from '../rpc/method.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import { defineMethod } from './context.ts'

export const trace_replayBlockTransactions = defineMethod({
  params: positional([tracedBlockOrHash, traceTypes]),
  answer: (context, [block, types], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceReplayBlockTransactions(block, JSON.stringify(types), deadlineMs, token),
    ),
})
