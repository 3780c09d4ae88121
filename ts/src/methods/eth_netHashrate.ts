import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_netHashrate = defineMethod({
  params: positional([]),
  result: values.whole,
  answer: (context) => context.native.ethNetHashrate(),
})
