import { positional } from '../rpc/method.ts'
import { transactionObject } from '../rpc/parameters/callObject.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_sendTransaction = defineMethod({
  params: positional([transactionObject]),
  result: values.hash,
  answer: (context, [transaction], request) =>
    request.run((deadlineMs, token) => context.native.ethSendTransaction(transaction, deadlineMs, token)),
})
