import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const eth_capabilities = defineMethod({
  params: positional([]),
  result: node.capabilities,
  answer: (context) => context.native.ethCapabilities(),
})
