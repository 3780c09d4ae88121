import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_dumpState = defineMethod({
  params: positional([]),
  result: values.data,
  answer: (context, _params, request) =>
    request.run((deadlineMs, token) => context.native.anvilDumpState(request.maxBytes, deadlineMs, token)),
})
