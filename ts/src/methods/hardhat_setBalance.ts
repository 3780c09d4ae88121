import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setBalance = defineMethod({
  params: positional([address, numberKind('balance')]),
  result: values.flag,
  answer: (context, [address, balance], request) =>
    request.run((deadlineMs, token) => context.native.hardhatSetBalance(address, balance, deadlineMs, token)),
})
