import { positional } from '../rpc/method.ts'
import { tracedTransaction, tracePosition } from '../rpc/parameters/tracePosition.ts'
import { defineMethod } from './context.ts'

export const trace_get = defineMethod({
  params: positional([tracedTransaction, tracePosition]),
  answer: (context, [hash, position], flight) =>
    flight.run((deadlineMs, ticket) => context.native.traceGet(hash, position, deadlineMs, ticket)),
})
