import { positional } from '../rpc/method.ts'
import { flag } from '../rpc/parameters/flag.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_autoImpersonateAccount = defineMethod({
  params: positional([flag('enabled')]),
  result: values.nothing,
  answer: (context, [isOn]) => context.native.anvilAutoImpersonateAccount(isOn),
})
