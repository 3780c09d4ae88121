import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { numberedBlock } from '../rpc/parameters/block.ts'
import { list } from '../rpc/parameters/list.ts'
import { numberKind } from '../rpc/parameters/number.ts'
import { percentile } from '../rpc/parameters/percentile.ts'
import * as chain from '../rpc/results/chain.ts'
import { defineMethod } from './context.ts'

const newestBlock = named('newestBlock', numberedBlock)

export const eth_feeHistory = defineMethod({
  params: positional([numberKind('blockCount'), newestBlock], [list('rewardPercentiles', percentile, 100)]),
  result: chain.feeHistory,
  answer: (context, [count, newest, percentiles = []], request) =>
    request.run((deadlineMs, token) => context.native.ethFeeHistory(count, newest, percentiles, deadlineMs, token)),
})
