import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getInternalOperations = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.listOf(otterscan.operation)),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.otsGetInternalOperations(hash, deadlineMs, token)),
})
