import { positional } from '../rpc/method.ts'
import { secret } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const personal_newAccountWithSeed = defineMethod({
  params: positional([secret('seed', 'Seed is null')]),
  result: values.address,
  answer: (context, [seed]) => context.native.personalNewAccountWithSeed(seed),
})
