import { positional } from '../rpc/method.ts'
import { banned } from '../rpc/parameters/banned.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const sco_banAddress = defineMethod({
  params: positional([banned]),
  result: values.nothing,
  answer: (context, [address]) => context.native.scoBanAddress(address),
})
