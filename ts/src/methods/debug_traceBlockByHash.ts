import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import { defineMethod } from './context.ts'

export const debug_traceBlockByHash = defineMethod({
  params: positional([blockHash], [traceOptions]),
  answer: (context, [hash, options = {}], flight) =>
    flight.run((deadlineMs, ticket) =>
      context.native.debugTraceBlock(hash, JSON.stringify(options), deadlineMs, ticket),
    ),
})
