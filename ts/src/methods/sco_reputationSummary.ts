import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const sco_reputationSummary = defineMethod({
  params: positional([]),
  result: node.reputationSummary,
  answer: (context) => context.native.scoReputationSummary(),
})
