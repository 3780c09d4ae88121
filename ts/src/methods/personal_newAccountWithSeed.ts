import { positional } from '../rpc/method.ts'
import { secret } from '../rpc/parameters/secret.ts'
import { defineMethod } from './context.ts'

export const personal_newAccountWithSeed = defineMethod({
  params: positional([secret('seed', 'Seed is null')]),
  answer: (context, [seed]) => context.native.personalNewAccountWithSeed(seed),
})
