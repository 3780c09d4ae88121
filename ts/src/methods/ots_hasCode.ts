import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberOrBlock } from '../rpc/parameters/otterscan.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const ots_hasCode = defineMethod({
  params: positional([address, numberOrBlock]),
  result: values.flag,
  answer: (context, [address, block]) => context.native.otsHasCode(address, block),
})
