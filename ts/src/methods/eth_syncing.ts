import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const eth_syncing = defineMethod({
  params: positional([]),
  answer: (context) => context.native.ethSyncing(),
})
