import { positional } from '../rpc/method.ts'
import { blockTransactions, reorganizationDepth } from '../rpc/parameters/reorganization.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_reorg = defineMethod({
  params: positional([reorganizationDepth], [blockTransactions]),
  result: values.nothing,
  answer: (context, [depth, transactions = ''], request) =>
    request.run((deadlineMs, token) => context.native.anvilReorg(depth, transactions, deadlineMs, token)),
})
