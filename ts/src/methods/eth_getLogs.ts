import { positional } from '../rpc/method.ts'
import { logFilter } from '../rpc/parameters/logFilter.ts'
import { defineMethod } from './context.ts'

export const eth_getLogs = defineMethod({
  params: positional([logFilter]),
  answer: (context, [filter], flight) =>
    flight.run((deadlineMs, ticket, mayBeBrief) =>
      context.native.ethGetLogs(JSON.stringify(filter), deadlineMs, ticket, mayBeBrief),
    ),
})
