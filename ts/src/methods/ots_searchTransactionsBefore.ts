import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { pageSize, searchedFrom } from '../rpc/parameters/otterscan.ts'
import * as otterscan from '../rpc/results/otterscan.ts'
import { defineMethod } from './context.ts'

export const ots_searchTransactionsBefore = defineMethod({
  params: positional([address, searchedFrom, pageSize]),
  result: otterscan.foundTransactions,
  answer: (context, [address, number, size], request) =>
    request.run((deadlineMs, token) =>
      context.native.otsSearchTransactions(address, number, false, size, request.maxBytes, deadlineMs, token),
    ),
})
