import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { defineMethod } from './context.ts'

export const anvil_removePoolTransactions = defineMethod({
  params: positional([address]),
  answer: (context, [sender]) => context.native.anvilRemovePoolTransactions(sender),
})
