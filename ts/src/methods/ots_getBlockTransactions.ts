import { positional } from '../rpc/method.ts'
import { numberOrBlock, pageNumber, pageSize } from '../rpc/parameters/otterscan.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getBlockTransactions = defineMethod({
  params: positional([numberOrBlock, pageNumber, pageSize]),
  result: values.orNull(otterscan.blockTransactions),
  answer: (context, [block, page, size], request) =>
    request.run((deadlineMs, token) => context.native.otsGetBlockTransactions(block, page, size, deadlineMs, token)),
})
