import { positional } from '../rpc/method.ts'
import { searchFilter } from '../rpc/parameters/logFilter.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getLogs = defineMethod({
  params: positional([searchFilter]),
  result: values.listOf(chain.log),
  answer: (context, [filter], request) =>
    request.run((deadlineMs, token, mayRunInline) =>
      context.native.ethGetLogs(filter, request.maxBytes, deadlineMs, token, mayRunInline),
    ),
})
