import { positional } from '../rpc/method.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const evm_setBlockGasLimit = defineMethod({
  params: positional([numberKind('gasLimit')]),
  answer: (context, [gasLimit]) => context.native.evmSetBlockGasLimit(gasLimit),
})
