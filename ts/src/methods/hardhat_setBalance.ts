import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const hardhat_setBalance = defineMethod({
  params: positional([address, numberKind('balance')]),
  answer: (context, [address, balance], flight) =>
    flight.run((deadlineMs, ticket) => context.native.hardhatSetBalance(address, balance, deadlineMs, ticket)),
})
