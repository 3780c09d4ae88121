import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getTransactionBySenderAndNonce = defineMethod({
  params: positional([address, numberKind('nonce')]),
  result: values.orNull(chain.transaction),
  answer: (context, [sender, nonce], request) =>
    request.run((deadlineMs, token) =>
      context.native.ethGetTransactionBySenderAndNonce(sender, nonce, deadlineMs, token),
    ),
})
