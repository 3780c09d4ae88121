import { positional } from '../rpc/method.ts'
import { reorganizationDepth } from '../rpc/parameters/reorganization.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_rollback = defineMethod({
  params: positional([], [reorganizationDepth]),
  result: values.nothing,
  answer: (context, [depth = 1], request) =>
    request.run((deadlineMs, token) => context.native.anvilRollback(depth, deadlineMs, token)),
})
