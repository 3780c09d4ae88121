import { positional } from '../rpc/method.ts'
import { callBlock } from '../rpc/parameters/block.ts'
import { callObject } from '../rpc/parameters/callObject.ts'
import { blockOverrides, stateOverrides } from '../rpc/parameters/overrides.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_call = defineMethod({
  params: positional([callObject, callBlock], [stateOverrides, blockOverrides]),
  result: values.data,
  answer: (context, [call, block, state = '', pretended = ''], request) =>
    request.run((deadlineMs, token, mayRunInline) =>
      context.native.ethCall(call, block, state, pretended, deadlineMs, token, mayRunInline),
    ),
})
