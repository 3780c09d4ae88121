import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import { defineMethod } from './context.ts'

export const rsk_getRawBlockHeaderByHash = defineMethod({
  params: positional([blockHash]),
  answer: (context, [hash]) => context.native.rskGetRawBlockHeaderByHash(hash),
})
