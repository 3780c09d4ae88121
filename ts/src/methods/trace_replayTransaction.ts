import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import { defineMethod } from './context.ts'

export const trace_replayTransaction = defineMethod({
  params: positional([transactionHash, traceTypes]),
  answer: (context, [hash, types], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceReplayTransaction(hash, JSON.stringify(types), deadlineMs, token),
    ),
})
