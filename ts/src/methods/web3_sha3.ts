import { positional } from '../rpc/method.ts'
import { prefixedBytes } from '../rpc/parameters/bytes.ts'
import { defineMethod } from './context.ts'

export const web3_sha3 = defineMethod({
  params: positional([prefixedBytes]),
  answer: (context, [data]) => context.native.web3Sha3(data),
})
