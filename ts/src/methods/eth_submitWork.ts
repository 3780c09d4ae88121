import { positional } from '../rpc/method.ts'
import { word } from '../rpc/parameters/word.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_submitWork = defineMethod({
  params: positional([word('nonce', 8), word('headerHash', 32), word('mixDigest', 32)]),
  result: values.flag,
  answer: (context) => context.native.ethSubmitWork(),
})
