import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const personal_listAccounts = defineMethod({
  params: positional([]),
  answer: (context) => context.native.personalListAccounts(),
})
