import { positional } from '../rpc/method.ts'
import { bytes } from '../rpc/parameters/bytes.ts'
import { defineMethod } from './context.ts'

export const eth_sendRawTransaction = defineMethod({
  params: positional([bytes]),
  answer: (context, [data], flight) =>
    flight.run((deadlineMs, ticket) => context.native.ethSendRawTransaction(data, deadlineMs, ticket)),
})
