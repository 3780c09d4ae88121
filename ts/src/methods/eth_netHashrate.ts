import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_netHashrate = defineMethod({
  params: positional([]),
  answer: (context) => context.native.ethNetHashrate(),
})
