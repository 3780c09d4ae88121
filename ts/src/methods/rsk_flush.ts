import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const rsk_flush = defineMethod({
  params: positional([]),
  answer: (context, _none, flight) => flight.run((deadlineMs, ticket) => context.native.rskFlush(deadlineMs, ticket)),
})
