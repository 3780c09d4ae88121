import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const evm_snapshot = defineMethod({
  params: positional([]),
  answer: (context) => context.native.evmSnapshot(),
})
