import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getTransactionBySenderAndNonce = defineMethod({
  params: positional([address, numberKind('nonce')]),
  result: values.orNull(values.hash),
  answer: (context, [sender, nonce], request) =>
    request.run((deadlineMs, token) =>
      context.native.otsGetTransactionBySenderAndNonce(sender, nonce, deadlineMs, token),
    ),
})
