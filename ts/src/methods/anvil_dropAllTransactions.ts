import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const anvil_dropAllTransactions = defineMethod({
  params: positional([]),
  answer: (context) => context.native.anvilDropAllTransactions(),
})
