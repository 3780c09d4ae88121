import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_newBlockFilter = defineMethod({
  params: positional([]),
  result: values.data,
  answer: (context, _parameters, request) => context.filters.newBlockFilter(request.client),
})
