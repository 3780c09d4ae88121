import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const hardhat_metadata = defineMethod({
  params: positional([]),
  answer: (context) => context.native.hardhatMetadata(),
})
