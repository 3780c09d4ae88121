import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_newPendingTransactionFilter = defineMethod({
  params: positional([]),
  answer: (context, _parameters, request) => context.filters.newPendingTransactionFilter(request.client),
})
