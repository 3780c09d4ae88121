import { positional } from '../rpc/method.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import * as traces from '../rpc/results/traces.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const trace_block = defineMethod({
  params: positional([tracedBlockOrHash]),
  result: values.orNull(values.listOf(traces.transactionTrace)),
  answer: (context, [block], request) =>
    request.run((deadlineMs, token) => context.native.traceBlock(block, deadlineMs, token)),
})
