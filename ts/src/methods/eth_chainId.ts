import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_chainId = defineMethod({
  params: positional([]),
  result: values.quantity,
  answer: (context) => context.native.ethChainId(),
})
