import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const net_version = defineMethod({
  params: positional([]),
  result: values.text,
  answer: (context) => context.native.netVersion(),
})
