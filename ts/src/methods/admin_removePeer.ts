import { positional } from '../rpc/method.ts'
import { enode } from '../rpc/parameters/enode.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const admin_removePeer = defineMethod({
  params: positional([enode]),
  result: values.flag,
  answer: (context, [url]) => context.native.adminRemovePeer(url),
})
