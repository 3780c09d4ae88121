import { positional } from '../rpc/method.ts'
import { ofAnySize, prefixedBytes } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const web3_sha3 = defineMethod({
  params: positional([ofAnySize(prefixedBytes)]),
  result: values.hash,
  answer: (context, [data], request) =>
    request.run((deadlineMs, token) => context.native.web3Sha3(data, deadlineMs, token)),
})
