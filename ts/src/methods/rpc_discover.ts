import { Type } from 'typebox'
import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const rpc_discover = defineMethod({
  params: positional([]),
  result: Type.Object({}, { title: 'OpenRPC document' }),
  answer: (context) => context.discover(),
})
