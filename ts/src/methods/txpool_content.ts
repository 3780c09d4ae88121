import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_content = defineMethod({
  params: positional([]),
  answer: (context) => context.native.txpoolContent(),
})
