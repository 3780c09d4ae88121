import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_accounts = defineMethod({
  params: positional([]),
  result: values.listOf(values.address),
  answer: (context) => context.native.ethAccounts(),
})
