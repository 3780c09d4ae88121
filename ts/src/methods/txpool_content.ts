import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_content = defineMethod({
  params: positional([]),
  answer: (context, _none, flight) =>
    flight.run((deadlineMs, ticket) => context.native.txpoolContent(deadlineMs, ticket)),
})
