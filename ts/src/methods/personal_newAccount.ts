import { randomBytes } from 'node:crypto'
import { positional } from '../rpc/method.ts'
import { passphrase } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'
import { storeKey } from './personal_importRawKey.ts'

export const personal_newAccount = defineMethod({
  params: positional([passphrase]),
  result: values.address,
  answer: (context, [passphrase]) => storeKey(context, `0x${randomBytes(32).toString('hex')}`, passphrase),
})
