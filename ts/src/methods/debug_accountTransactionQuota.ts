import { positional } from '../rpc/method.ts'
import { quotaAddress } from '../rpc/parameters/address.ts'
import { defineMethod } from './context.ts'

export const debug_accountTransactionQuota = defineMethod({
  params: positional([quotaAddress]),
  answer: (context, [address]) => context.native.debugAccountTransactionQuota(address),
})
