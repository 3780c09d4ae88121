import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_traceTransaction = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.listOf(otterscan.traceEntry)),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.otsTraceTransaction(hash, deadlineMs, token)),
})
