import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import { defineMethod } from './context.ts'

export const hardhat_metadata = defineMethod({
  params: positional([]),
  result: node.metadata,
  answer: (context) => context.native.hardhatMetadata(),
})
