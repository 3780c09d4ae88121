import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { bytes, ofAnySize } from '../rpc/parameters/bytes.ts'
import { traceTypes } from '../rpc/parameters/traceTypes.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

export const trace_rawTransaction = defineMethod({
  params: positional([ofAnySize(bytes), traceTypes], [callBlock]),
  result: traces.replay,
  answer: (context, [data, types, block = 'latest'], request) =>
    request.run((deadlineMs, token) =>
      context.native.traceRawTransaction(data, JSON.stringify(types), block, deadlineMs, token),
    ),
})
