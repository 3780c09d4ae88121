import { positional } from '../rpc/method.ts'
import { text } from '../rpc/parameters/text.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

export const mnr_submitBitcoinBlock = defineMethod({
  params: positional([text('bitcoinBlock', 'a Bitcoin block, hex digits')]),
  result: chain.submission,
  answer: (context, [block], request) =>
    request.run((deadlineMs, token) => context.native.mnrSubmitBitcoinBlock(block, deadlineMs, token)),
})
