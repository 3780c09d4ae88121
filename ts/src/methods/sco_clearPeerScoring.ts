import { positional } from '../rpc/method.ts'
import { peer } from '../rpc/parameters/peer.ts'
import { defineMethod } from './context.ts'

export const sco_clearPeerScoring = defineMethod({
  params: positional([peer]),
  answer: (context, [peer]) => context.native.scoClearPeerScoring(peer),
})
