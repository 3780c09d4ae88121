import { positional } from '../rpc/method.ts'
import { text } from '../rpc/parameters/text.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

// The first parameter is ignored: the coinbase identifies the block template.
export const mnr_submitBitcoinBlockPartialMerkle = defineMethod({
  params: positional([
    text('blockHash', 'text'),
    text('bitcoinHeader', 'a Bitcoin header, hex digits'),
    text('coinbase', 'a coinbase transaction, hex digits'),
    text('merkleHashes', 'the Merkle branch in internal byte order, coinbase first, separated by blanks'),
    text('transactionCount', 'a number in hex digits without 0x'),
  ]),
  result: chain.submission,
  answer: (context, [_hash, header, coinbase, branch, count], request) =>
    request.run((deadlineMs, token) =>
      context.native.mnrSubmitBitcoinBlockPartialMerkle(header, coinbase, branch, count, deadlineMs, token),
    ),
})
