import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const miner_stop = defineMethod({
  params: positional([]),
  result: values.flag,
  answer: (context) => context.native.evmSetAutomine(false),
})
