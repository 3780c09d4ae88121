import { invalidParams } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { transactionObject } from '../rpc/parameters/callObject.ts'
import { passphrase } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'
import { storedKey } from './personal_unlockAccount.ts'

export const personal_sendTransaction = defineMethod({
  params: positional([transactionObject, passphrase]),
  result: values.hash,
  async answer(context, [transaction, passphrase], request) {
    const from = JSON.parse(context.native.transactionSender(transaction).toString()) as string | null
    if (from === null) throw invalidParams('from is null')
    const key = await storedKey(context, from, passphrase)
    if (key === undefined) throw invalidParams(`Could not find account for address: ${from.toLowerCase()}`)
    return request.run((deadlineMs, token) =>
      context.native.personalSendTransaction(transaction, key, deadlineMs, token),
    )
  },
})
