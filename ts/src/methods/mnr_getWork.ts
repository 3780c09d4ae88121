import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const mnr_getWork = defineMethod({
  params: positional([]),
  answer: (context, _params, flight) =>
    flight.run((deadlineMs, ticket) => context.native.mnrGetWork(deadlineMs, ticket)),
})
