import { positional } from '../rpc/method.ts'
import { numberOrBlock } from '../rpc/parameters/otterscan.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getBlockDetails = defineMethod({
  params: positional([numberOrBlock]),
  result: values.orNull(otterscan.blockDetails),
  answer: (context, [block], request) =>
    request.run((deadlineMs, token) => context.native.otsGetBlockDetails(block, deadlineMs, token)),
})
