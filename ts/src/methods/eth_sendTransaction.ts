import { positional } from '../rpc/method.ts'
import { callText, transactionObject } from '../rpc/parameters/callObject.ts'
import { defineMethod } from './context.ts'

export const eth_sendTransaction = defineMethod({
  params: positional([transactionObject]),
  answer: (context, [transaction], flight) =>
    flight.run((deadlineMs, ticket) => context.native.ethSendTransaction(callText(transaction), deadlineMs, ticket)),
})
