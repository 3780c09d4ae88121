import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { bytes } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setCode = defineMethod({
  params: positional([address, named('code', bytes)]),
  result: values.flag,
  answer: (context, [address, code], request) =>
    request.run((deadlineMs, token) => context.native.hardhatSetCode(address, code, deadlineMs, token)),
})
