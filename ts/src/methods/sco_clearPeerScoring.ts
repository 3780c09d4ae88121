import { positional } from '../rpc/method.ts'
import { peer } from '../rpc/parameters/peer.ts'
import * as node from '../rpc/results/node.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const sco_clearPeerScoring = defineMethod({
  params: positional([peer]),
  result: values.listOf(node.peerScoring),
  answer: (context, [peer]) => context.native.scoClearPeerScoring(peer),
})
