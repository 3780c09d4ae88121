import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const anvil_nodeInfo = defineMethod({
  params: positional([]),
  result: node.nodeInfo,
  answer: (context) => context.native.anvilNodeInfo(),
})
