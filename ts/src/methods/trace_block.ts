import { positional } from '../rpc/method.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import { defineMethod } from './context.ts'

export const trace_block = defineMethod({
  params: positional([tracedBlockOrHash]),
  answer: (context, [block], flight) =>
    flight.run((deadlineMs, ticket) => context.native.traceBlock(block, deadlineMs, ticket)),
})
