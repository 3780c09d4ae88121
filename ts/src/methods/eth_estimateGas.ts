import { positional } from '../rpc/method.ts'
import { estimateBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { defineMethod } from './context.ts'

export const eth_estimateGas = defineMethod({
  params: positional([callObject], [estimateBlock]),
  answer: (context, [call, block = 'latest'], flight) =>
    flight.run((deadlineMs, ticket) => context.native.ethEstimateGas(JSON.stringify(call), block, deadlineMs, ticket)),
})
