import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const personal_dumpRawKey = defineMethod({
  params: positional([address]),
  result: values.hash,
  answer: (context, [address]) => context.native.personalDumpRawKey(address),
})
