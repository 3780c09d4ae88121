import { positional } from '../rpc/method.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const rpc_modules = defineMethod({
  params: positional([]),
  result: chain.modules,
  answer: (context) => context.modules,
})
