import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const sco_bannedAddresses = defineMethod({
  params: positional([]),
  result: values.listOf(values.text),
  answer: (context) => context.native.scoBannedAddresses(),
})
