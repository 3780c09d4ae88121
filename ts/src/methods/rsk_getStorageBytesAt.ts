import { Type } from 'typebox'
import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { storagePosition } from '../rpc/parameters/number.ts'
import { defineMethod } from './context.ts'

export const rsk_getStorageBytesAt = defineMethod({
  params: positional([address, storagePosition, stateBlock]),
  result: Type.String({ title: 'DATA, or 0x0', pattern: '^0x(0|([0-9a-f]{2})+)$' }),
  answer: (context, [address, position, block]) => context.native.rskGetStorageBytesAt(address, position, block),
})
