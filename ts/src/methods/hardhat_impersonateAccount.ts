import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_impersonateAccount = defineMethod({
  params: positional([address]),
  result: values.flag,
  answer: (context, [address]) => context.native.hardhatImpersonateAccount(address),
})
