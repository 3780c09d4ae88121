import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getApiLevel = defineMethod({
  params: positional([]),
  result: values.whole,
  answer: () => '8',
})
