import { positional } from '../rpc/method.ts'
import { text } from '../rpc/parameters/text.ts'
import { defineMethod } from './context.ts'

export const mnr_submitBitcoinBlock = defineMethod({
  params: positional([text('bitcoinBlock', 'a Bitcoin block, hex digits')]),
  answer: (context, [block], request) =>
    request.run((deadlineMs, token) => context.native.mnrSubmitBitcoinBlock(block, deadlineMs, token)),
})
