import { positional } from '../rpc/method.ts'
import { transactionObject } from '../rpc/parameters/callObject.ts'
import { defineMethod } from './context.ts'

export const eth_sendUnsignedTransaction = defineMethod({
  params: positional([transactionObject]),
  answer: (context, [transaction], request) =>
    request.run((deadlineMs, token) =>
      context.native.ethSendUnsignedTransaction(JSON.stringify(transaction), deadlineMs, token),
    ),
})
