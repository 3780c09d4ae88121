import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_removePoolTransactions = defineMethod({
  params: positional([address]),
  result: values.nothing,
  answer: (context, [sender]) => context.native.anvilRemovePoolTransactions(sender),
})
