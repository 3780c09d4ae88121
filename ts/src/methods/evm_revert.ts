import { positional } from '../rpc/method.ts'
import { snapshotId } from '../rpc/parameters/snapshotId.ts'
import { defineMethod } from './context.ts'

export const evm_revert = defineMethod({
  params: positional([snapshotId]),
  answer: (context, [id], flight) =>
    flight.run((deadlineMs, ticket) => context.native.evmRevert(id, deadlineMs, ticket)),
})
