import { positional } from '../rpc/method.ts'
import { estimateBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { blockOverrides, stateOverrides } from '../rpc/parameters/overrides.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_estimateGas = defineMethod({
  params: positional([callObject], [estimateBlock, stateOverrides, blockOverrides]),
  result: values.quantity,
  answer: (context, [call, block = 'latest', state = '', pretended = ''], request) =>
    request.run((deadlineMs, token, mayRunInline) =>
      context.native.ethEstimateGas(call, block, state, pretended, deadlineMs, token, mayRunInline),
    ),
})
