import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const txpool_contentFrom = defineMethod({
  params: positional([address]),
  result: node.poolContentFrom,
  answer: (context, [sender], request) =>
    request.run((deadlineMs, token) => context.native.txpoolContentFrom(sender, request.maxBytes, deadlineMs, token)),
})
