import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const eth_config = defineMethod({
  params: positional([]),
  result: node.forkConfig,
  answer: (context) => context.native.ethConfig(),
})
