import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { flag } from '../rpc/parameters/flag.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockByNumber = defineMethod({
  params: positional([numberedBlock], [flag('full')]),
  result: values.orNull(chain.block),
  answer: (context, [block, isFull = false]) => context.native.ethGetBlockByNumber(block, isFull),
})
