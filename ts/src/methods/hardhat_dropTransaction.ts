import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_dropTransaction = defineMethod({
  params: positional([transactionHash]),
  result: values.flag,
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.hardhatDropTransaction(hash, deadlineMs, token)),
})
