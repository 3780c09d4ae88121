import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const evm_mine = defineMethod({
  params: positional([]),
  answer: (context, _params, flight) => flight.run((deadlineMs, ticket) => context.native.evmMine(deadlineMs, ticket)),
})
