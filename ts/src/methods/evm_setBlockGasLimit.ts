import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_setBlockGasLimit = defineMethod({
  params: positional([numberKind('gasLimit')]),
  result: values.flag,
  answer: (context, [gasLimit]) => context.native.evmSetBlockGasLimit(gasLimit),
})
