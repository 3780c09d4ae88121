import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { defineMethod } from './context.ts'

export const eth_getCode = defineMethod({
  params: positional([address, stateBlock]),
  answer: (context, [address, block]) => context.native.ethGetCode(address, block),
})
