import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const hardhat_dropTransaction = defineMethod({
  params: positional([transactionHash]),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.hardhatDropTransaction(hash, deadlineMs, token)),
})
