import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_bridgeState = defineMethod({
  params: positional([]),
  answer: (context) => context.native.ethBridgeState(),
})
