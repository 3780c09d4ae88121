import { positional } from '../rpc/method.ts'
import { flag } from '../rpc/parameters/flag.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getBlockByHash = defineMethod({
  params: positional([blockHash], [flag('full')]),
  result: values.orNull(chain.block),
  answer: (context, [hash, isFull = false]) => context.native.ethGetBlockByHash(hash, isFull),
})
