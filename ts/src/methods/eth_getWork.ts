import { Type } from 'typebox'
import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getWork = defineMethod({
  params: positional([]),
  result: Type.Tuple([values.hash, values.hash, values.hash]),
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.ethGetWork(deadlineMs, token)),
})
