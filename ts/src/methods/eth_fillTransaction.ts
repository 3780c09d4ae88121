import { positional } from '../rpc/method.ts'
import { transactionObject } from '../rpc/parameters/callObject.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const eth_fillTransaction = defineMethod({
  params: positional([transactionObject]),
  result: chain.filledTransaction,
  answer: (context, [transaction], request) =>
    request.run((deadlineMs, token) => context.native.ethFillTransaction(transaction, deadlineMs, token)),
})
