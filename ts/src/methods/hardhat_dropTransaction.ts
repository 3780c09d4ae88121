import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const hardhat_dropTransaction = defineMethod({
  params: positional([transactionHash]),
  answer: (context, [hash], flight) =>
    flight.run((deadlineMs, ticket) => context.native.hardhatDropTransaction(hash, deadlineMs, ticket)),
})
