import { positional } from '../rpc/method.ts'
import { transactionObject } from '../rpc/parameters/callObject.ts'
import { defineMethod } from './context.ts'

export const eth_sendUnsignedTransaction = defineMethod({
  params: positional([transactionObject]),
  answer: (context, [transaction], flight) =>
    flight.run((deadlineMs, ticket) =>
      context.native.ethSendUnsignedTransaction(JSON.stringify(transaction), deadlineMs, ticket),
    ),
})
