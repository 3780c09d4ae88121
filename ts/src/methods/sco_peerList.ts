import { positional } from '../rpc/method.ts'
import * as node from '../rpc/results/node.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const sco_peerList = defineMethod({
  params: positional([]),
  result: values.listOf(node.peerScoring),
  answer: (context) => context.native.scoPeerList(),
})
