import { positional } from '../rpc/method.ts'
import { filterId } from '../rpc/parameters/filterId.ts'
import { defineMethod } from './context.ts'

export const eth_getFilterLogs = defineMethod({
  params: positional([filterId]),
  answer: (context, [id]) => context.filters.logs(id),
})
