import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const net_peerCount = defineMethod({
  params: positional([]),
  answer: (context) => context.native.netPeerCount(),
})
