import { positional } from '../rpc/method.ts'
import { logFilter } from '../rpc/parameters/logFilter.ts'
import { defineMethod } from './context.ts'

export const eth_newFilter = defineMethod({
  params: positional([logFilter]),
  answer: (context, [filter], request) => context.filters.newLogFilter(filter, request.client),
})
