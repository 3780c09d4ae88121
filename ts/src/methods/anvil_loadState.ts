import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { bytes, ofAnySize } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_loadState = defineMethod({
  params: positional([named('state', ofAnySize(bytes))]),
  result: values.flag,
  answer: (context, [state], request) =>
    request.run((deadlineMs, token) => context.native.anvilLoadState(state, deadlineMs, token)),
})
