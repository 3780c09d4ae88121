import { positional } from '../rpc/method.ts'
import { quotaAddress } from '../rpc/parameters/address.ts'
import * as node from '../rpc/results/node.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const debug_accountTransactionQuota = defineMethod({
  params: positional([quotaAddress]),
  result: values.orNull(node.transactionQuota),
  answer: (context, [address]) => context.native.debugAccountTransactionQuota(address),
})
