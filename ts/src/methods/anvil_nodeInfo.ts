import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const anvil_nodeInfo = defineMethod({
  params: positional([]),
  answer: (context) => context.native.anvilNodeInfo(),
})
