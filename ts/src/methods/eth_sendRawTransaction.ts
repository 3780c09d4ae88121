import { positional } from '../rpc/method.ts'
import { bytes, ofAnySize } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_sendRawTransaction = defineMethod({
  params: positional([ofAnySize(bytes)]),
  result: values.hash,
  answer: (context, [data], request) =>
    request.run((deadlineMs, token) => context.native.ethSendRawTransaction(data, deadlineMs, token)),
})
