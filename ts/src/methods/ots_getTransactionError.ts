import { positional } from '../rpc/method.ts'
import { transactionHash } from '../rpc/parameters/hash.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getTransactionError = defineMethod({
  params: positional([transactionHash]),
  result: values.orNull(values.data),
  answer: (context, [hash], request) =>
    request.run((deadlineMs, token) => context.native.otsGetTransactionError(hash, deadlineMs, token)),
})
