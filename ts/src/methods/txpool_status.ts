import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const txpool_status = defineMethod({
  params: positional([]),
  result: node.poolStatus,
  answer: (context) => context.native.txpoolStatus(),
})
