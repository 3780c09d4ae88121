import { positional } from '../rpc/method.ts'
import { text } from '../rpc/parameters/text.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

// The first parameter is ignored: the coinbase identifies the block template.
export const mnr_submitBitcoinBlockTransactions = defineMethod({
  params: positional([
    text('blockHash', 'text'),
    text('bitcoinHeader', 'a Bitcoin header, hex digits'),
    text('coinbase', 'a coinbase transaction, hex digits'),
    text('transactionIds', 'the ids of all transactions in display order, coinbase first, separated by blanks'),
  ]),
  result: chain.submission,
  answer: (context, [_hash, header, coinbase, ids], request) =>
    request.run((deadlineMs, token) =>
      context.native.mnrSubmitBitcoinBlockTransactions(header, coinbase, ids, deadlineMs, token),
    ),
})
