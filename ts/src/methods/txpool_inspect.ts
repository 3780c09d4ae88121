import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_inspect = defineMethod({
  params: positional([]),
  answer: (context, _none, flight) =>
    flight.run((deadlineMs, ticket) => context.native.txpoolInspect(deadlineMs, ticket)),
})
