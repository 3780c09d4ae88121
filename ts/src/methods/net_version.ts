import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const net_version = defineMethod({
  params: positional([]),
  answer: (context) => context.native.netVersion(),
})
