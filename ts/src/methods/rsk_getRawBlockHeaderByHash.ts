import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawBlockHeaderByHash = defineMethod({
  params: positional([blockHash]),
  result: values.orNull(values.data),
  answer: (context, [hash]) => context.native.rskGetRawBlockHeaderByHash(hash),
})
