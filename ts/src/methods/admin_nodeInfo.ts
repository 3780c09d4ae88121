import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const admin_nodeInfo = defineMethod({
  params: positional([]),
  result: node.ownInfo,
  answer: (context) => context.native.adminNodeInfo(),
})
