import { positional } from '../rpc/method.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_dropAllTransactions = defineMethod({
  params: positional([]),
  result: values.nothing,
  answer: (context) => context.native.anvilDropAllTransactions(),
})
