import { positional } from '../rpc/method.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_pendingTransactions = defineMethod({
  params: positional([]),
  result: values.listOf(chain.transaction),
  answer: (context, _none, request) => context.native.ethPendingTransactions(request.maxBytes),
})
