import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { defineMethod } from './context.ts'

export const hardhat_setCoinbase = defineMethod({
  params: positional([address]),
  answer: (context, [address]) => context.native.hardhatSetCoinbase(address),
})
