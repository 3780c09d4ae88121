import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const admin_peers = defineMethod({
  params: positional([]),
  result: values.listOf(node.connectedPeer),
  answer: (context) => context.native.adminPeers(),
})
