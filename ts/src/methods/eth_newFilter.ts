import { positional } from '../rpc/method.ts'
import { logFilter } from '../rpc/parameters/logFilter.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_newFilter = defineMethod({
  params: positional([logFilter]),
  result: values.data,
  answer: (context, [filter], request) => context.filters.newLogFilter(filter, request.client, request.maxBytes),
})
