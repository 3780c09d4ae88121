import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { storagePosition } from '../rpc/parameters/number.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getStorageAt = defineMethod({
  params: positional([address, storagePosition, stateBlock]),
  result: values.hash,
  answer: (context, [address, position, block]) => context.native.ethGetStorageAt(address, position, block),
})
