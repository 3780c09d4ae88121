import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { tracedBlockOrHash } from '../rpc/parameters/tracedBlock.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import * as traces from '../rpc/results/traces.ts'
import { defineMethod } from './context.ts'

const index = wholeNumber('txIndex', 0xffffffff)
const most = wholeNumber('maxResult', 0xffffffff)

export const debug_storageRangeAt = defineMethod({
  params: positional([tracedBlockOrHash, index, address, numberKind('keyStart'), most]),
  result: traces.storageRange,
  answer: (context, [block, index, address, start, most], request) =>
    request.run((deadlineMs, token) =>
      context.native.debugStorageRangeAt(block, index, address, start, most, deadlineMs, token),
    ),
})
