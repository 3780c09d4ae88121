import { positional } from '../rpc/method.ts'
import { stateBlock } from '../rpc/parameters/block.ts'
import { simulation } from '../rpc/parameters/simulation.ts'
import * as chain from '../rpc/results/chain.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_simulateV1 = defineMethod({
  params: positional([simulation], [stateBlock]),
  result: values.listOf(chain.simulatedBlock),
  answer: (context, [simulation, block = 'latest'], request) =>
    request.run((deadlineMs, token) =>
      context.native.ethSimulate(simulation, block, request.maxBytes, deadlineMs, token),
    ),
})
