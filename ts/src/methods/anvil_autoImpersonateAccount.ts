import { positional } from '../rpc/method.ts'
import { flag } from '../rpc/parameters/flag.ts'
import { defineMethod } from './context.ts'

export const anvil_autoImpersonateAccount = defineMethod({
  params: positional([flag('enabled')]),
  answer: (context, [isOn]) => context.native.anvilAutoImpersonateAccount(isOn),
})
