import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setNonce = defineMethod({
  params: positional([address, wholeNumber('nonce', Number.MAX_SAFE_INTEGER)]),
  result: values.flag,
  answer: (context, [address, nonce], request) =>
    request.run((deadlineMs, token) => context.native.hardhatSetNonce(address, nonce, deadlineMs, token)),
})
