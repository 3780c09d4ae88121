import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { storagePosition } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const rsk_getStorageBytesAt = defineMethod({
  params: positional([address, storagePosition, stateBlock]),
  answer: (context, [address, position, block]) => context.native.rskGetStorageBytesAt(address, position, block),
})
