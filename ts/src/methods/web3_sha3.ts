import { positional } from '../rpc/method.ts'
import { ofAnySize, prefixedBytes } from '../rpc/parameters/bytes.ts'
import { defineMethod } from './context.ts'

export const web3_sha3 = defineMethod({
  params: positional([ofAnySize(prefixedBytes)]),
  answer: (context, [data], request) =>
    request.run((deadlineMs, token) => context.native.web3Sha3(data, deadlineMs, token)),
})
