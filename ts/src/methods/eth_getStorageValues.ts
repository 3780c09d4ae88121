import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { wantedSlots } from '../rpc/parameters/wantedSlots.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_getStorageValues = defineMethod({
  params: positional([wantedSlots], [stateBlock]),
  result: values.named('^0x[0-9a-f]{40}$', values.listOf(values.hash)),
  answer: (context, [slots, block = 'latest'], request) =>
    request.run((deadlineMs, token) => context.native.ethGetStorageValues(slots, block, deadlineMs, token)),
})
