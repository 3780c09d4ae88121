import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_getContractCreator = defineMethod({
  params: positional([address]),
  result: values.orNull(otterscan.contractCreator),
  answer: (context, [address], request) =>
    request.run((deadlineMs, token) => context.native.otsGetContractCreator(address, deadlineMs, token)),
})
