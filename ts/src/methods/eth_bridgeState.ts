import { positional } from '../rpc/method.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const eth_bridgeState = defineMethod({
  params: positional([]),
  result: chain.bridgeState,
  answer: (context) => context.native.ethBridgeState(),
})
