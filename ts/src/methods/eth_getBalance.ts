import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBalance = defineMethod({
  params: positional([address], [stateBlock]),
  result: values.quantity,
  answer: (context, [address, block = 'latest']) => context.native.ethGetBalance(address, block),
})
