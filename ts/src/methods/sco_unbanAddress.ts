import { positional } from '../rpc/method.ts'
import { banned } from '../rpc/parameters/banned.ts'
import { defineMethod } from './context.ts'

export const sco_unbanAddress = defineMethod({
  params: positional([banned]),
  answer: (context, [address]) => context.native.scoUnbanAddress(address),
})
