import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const txpool_status = defineMethod({
  params: positional([]),
  answer: (context) => context.native.txpoolStatus(),
})
