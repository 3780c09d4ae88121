import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { bytes } from '../rpc/parameters/bytes.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const personal_ecRecover = defineMethod({
  params: positional([bytes, named('signature', bytes)]),
  result: values.address,
  answer: (context, [data, signature]) => context.native.personalEcRecover(data, signature),
})
