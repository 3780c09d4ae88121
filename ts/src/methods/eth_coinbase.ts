import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_coinbase = defineMethod({
  params: positional([]),
  answer: (context) => context.native.ethCoinbase(),
})
