import { positional } from '../rpc/method.ts'
import { word } from '../rpc/parameters/word.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setPrevRandao = defineMethod({
  params: positional([word('prevRandao', 32)]),
  result: values.flag,
  answer: () => 'true',
})
