import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const sco_reputationSummary = defineMethod({
  params: positional([]),
  answer: (context) => context.native.scoReputationSummary(),
})
