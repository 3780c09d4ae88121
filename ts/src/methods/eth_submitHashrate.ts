import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { word } from '../rpc/parameters/word.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_submitHashrate = defineMethod({
  params: positional([numberKind('hashrate'), word('id', 32)]),
  result: values.flag,
  answer: (context) => context.native.ethSubmitHashrate(),
})
