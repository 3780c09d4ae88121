import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { defineMethod } from './context.ts'

export const eth_call = defineMethod({
  params: positional([callObject, callBlock]),
  answer: (context, [call, block], flight) =>
    flight.run((deadlineMs, ticket) => context.native.ethCall(JSON.stringify(call), block, deadlineMs, ticket)),
})
