import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const evm_stopMining = defineMethod({
  params: positional([]),
  answer: (context, _params, flight) =>
    flight.run((deadlineMs, ticket) => context.native.evmStopMining(deadlineMs, ticket)),
})
