import { positional } from '../rpc/method.ts'
import { flag } from '../rpc/parameters/flag.ts'
import { defineMethod } from './context.ts'

export const evm_setAutomine = defineMethod({
  params: positional([flag('automine')]),
  answer: (context, [isOn]) => context.native.evmSetAutomine(isOn),
})
