import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const sco_peerList = defineMethod({
  params: positional([]),
  answer: (context) => context.native.scoPeerList(),
})
