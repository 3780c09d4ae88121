import { positional } from '../rpc/method.ts'
import { enode } from '../rpc/parameters/enode.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const admin_addPeer = defineMethod({
  params: positional([enode]),
  result: values.flag,
  answer: (context, [url]) => context.native.adminAddPeer(url),
})
