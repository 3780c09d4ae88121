import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getUncleCountByBlockHash = defineMethod({
  params: positional([blockHash]),
  result: values.quantity,
  answer: (context, [hash]) => context.native.ethGetUncleCountByBlockHash(hash),
})
