import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const debug_wireProtocolQueueSize = defineMethod({
  params: positional([]),
  answer: (context) => context.native.debugWireProtocolQueueSize(),
})
