import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_getWork = defineMethod({
  params: positional([]),
  answer: (context, _params, flight) =>
    flight.run((deadlineMs, ticket) => context.native.ethGetWork(deadlineMs, ticket)),
})
