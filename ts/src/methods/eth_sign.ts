import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { ofAnySize, paddedBytes } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_sign = defineMethod({
  params: positional([address, ofAnySize(paddedBytes)]),
  result: values.bytesOf(65),
  answer: (context, [address, data], request) =>
    request.run((deadlineMs, token) => context.native.ethSign(address, data, deadlineMs, token)),
})
