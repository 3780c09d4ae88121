import { Type } from 'typebox'
import { positional } from '../rpc/method.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const eth_syncing = defineMethod({
  params: positional([]),
  result: Type.Union([Type.Literal(false), chain.syncStatus]),
  answer: (context) => context.native.ethSyncing(),
})
