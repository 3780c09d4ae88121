import { positional } from '../rpc/method.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import { defineMethod } from './context.ts'

export const trace_block = defineMethod({
  params: positional([tracedBlockOrHash]),
  answer: (context, [block], request) =>
    request.run((deadlineMs, token) => context.native.traceBlock(block, deadlineMs, token)),
})
