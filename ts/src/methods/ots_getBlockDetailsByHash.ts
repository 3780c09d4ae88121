import { positional } from '../rpc/method.ts'
import { blockHash } from '../rpc/parameters/hash.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getBlockDetailsByHash = defineMethod({
  params: positional([blockHash]),
  result: values.orNull(otterscan.blockDetails),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.otsGetBlockDetails(`hash:${hash}`, deadlineMs, token)),
})
