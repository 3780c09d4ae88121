import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind, storagePosition } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const hardhat_setStorageAt = defineMethod({
  params: positional([address, storagePosition, numberKind('value')]),
  result: values.flag,
  answer: (context, [address, position, value], request) =>
    request.run((deadlineMs, token) => context.native.hardhatSetStorageAt(address, position, value, deadlineMs, token)),
})
