import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import { defineMethod } from './context.ts'

export const trace_replayTransaction = defineMethod({
  params: positional([transactionHash, traceTypes]),
  answer: (context, [hash, types], flight) =>
    flight.run((deadlineMs, ticket) =>
      context.native.traceReplayTransaction(hash, JSON.stringify(types), deadlineMs, ticket),
    ),
})
