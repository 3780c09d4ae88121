import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const web3_clientVersion = defineMethod({
  params: positional([]),
  result: values.text,
  answer: (context) => context.native.web3ClientVersion(),
})
