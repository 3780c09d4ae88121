import { positional } from '../rpc/method.ts'
import { bundles, callContext } from '../rpc/parameters/bundles.ts'
import { stateOverrides } from '../rpc/parameters/overrides.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_callMany = defineMethod({
  params: positional([bundles], [callContext, stateOverrides, wholeNumber('timeout', 0x7fffffff)]),
  result: values.listOf(values.listOf(chain.bundledCall)),
  answer: (context, [bundles, place = '', state = '', timeoutMs = 0], request) =>
    (timeoutMs === 0 ? request : request.within(timeoutMs)).run((deadlineMs, token) =>
      context.native.ethCallMany(bundles, place, state, request.maxBytes, deadlineMs, token),
    ),
})
