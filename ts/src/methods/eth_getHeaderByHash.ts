import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getHeaderByHash = defineMethod({
  params: positional([blockHash]),
  result: values.orNull(chain.blockHeader),
  answer: (context, [hash]) => context.native.ethGetHeaderByHash(hash),
})
