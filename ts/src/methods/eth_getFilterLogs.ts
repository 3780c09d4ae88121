import { positional } from '../rpc/method.ts'
import { filterId } from '../rpc/parameters/filterId.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const eth_getFilterLogs = defineMethod({
  params: positional([filterId]),
  result: chain.filterChanges,
  answer: (context, [id], request) => context.filters.logs(id, request.maxBytes),
})
