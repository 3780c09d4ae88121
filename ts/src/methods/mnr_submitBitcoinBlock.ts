import { positional } from '../rpc/method.ts'
import { text } from '../rpc/parameters/text.ts'
import { defineMethod } from './context.ts'

export const mnr_submitBitcoinBlock = defineMethod({
  params: positional([text('bitcoinBlock', 'a Bitcoin block, hex digits')]),
  answer: (context, [block], flight) =>
    flight.run((deadlineMs, ticket) => context.native.mnrSubmitBitcoinBlock(block, deadlineMs, ticket)),
})
