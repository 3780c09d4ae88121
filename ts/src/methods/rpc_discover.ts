import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const rpc_discover = defineMethod({
  params: positional([]),
  answer: (context) => context.discover(),
})
