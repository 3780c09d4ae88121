import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { list } from '../rpc/parameters/list.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const eth_getProof = defineMethod({
  params: positional([address, list('storageKeys', numberKind('key'), 1024)], [stateBlock]),
  result: chain.accountProof,
  answer: (context, [address, keys, block = 'latest'], request) =>
    request.run((deadlineMs, token, mayRunInline) =>
      context.native.ethGetProof(address, keys, block, deadlineMs, token, mayRunInline),
    ),
})
