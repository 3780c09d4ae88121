import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const anvil_removeBlockTimestampInterval = defineMethod({
  params: positional([]),
  answer: (context) => context.native.anvilRemoveBlockTimestampInterval(),
})
