import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const hardhat_setBalance = defineMethod({
  params: positional([address, numberKind('balance')]),
  answer: (context, [address, balance], request) =>
    request.run((deadlineMs, token) => context.native.hardhatSetBalance(address, balance, deadlineMs, token)),
})
