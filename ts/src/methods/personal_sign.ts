import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { bytes } from '../rpc/parameters/bytes.ts'
import { passphrase } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'
import { storedKey } from './personal_unlockAccount.ts'

// Like eth_sign with the message first. The passphrase is used for stored accounts only, also for locked ones.
export const personal_sign = defineMethod({
  params: positional([bytes, address], [passphrase]),
  result: values.bytesOf(65),
  async answer(context, [data, address, passphrase], request) {
    const key = passphrase === undefined ? undefined : await storedKey(context, address, passphrase)
    if (key !== undefined) return context.native.personalSign(data, key)
    return request.run((deadlineMs, token) => context.native.ethSign(address, data, deadlineMs, token))
  },
})
