import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { flag } from '../rpc/parameters/flag.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockByNumber = defineMethod({
  params: positional([numberedBlock], [flag('full')]),
  answer: (context, [block, isFull = false]) => context.native.ethGetBlockByNumber(block, isFull),
})
