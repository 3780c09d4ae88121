import { positional } from '../rpc/method.ts'
import { flag } from '../rpc/parameters/flag.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_setAutomine = defineMethod({
  params: positional([flag('automine')]),
  result: values.flag,
  answer: (context, [isOn]) => context.native.evmSetAutomine(isOn),
})
