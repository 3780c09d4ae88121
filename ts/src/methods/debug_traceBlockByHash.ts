import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { traceOptions } from '../rpc/parameters/traceOptions.ts'
import { defineMethod } from './context.ts'

export const debug_traceBlockByHash = defineMethod({
  params: positional([blockHash], [traceOptions]),
  answer: (context, [hash, options = {}], request) =>
    request.run((deadlineMs, token) =>
      context.native.debugTraceBlock(hash, JSON.stringify(options), deadlineMs, token),
    ),
})
