import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const web3_clientVersion = defineMethod({
  params: positional([]),
  answer: (context) => context.native.web3ClientVersion(),
})
