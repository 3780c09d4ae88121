import { positional } from '../rpc/method.ts'
import { snapshotId } from '../rpc/parameters/snapshotId.ts'
import { defineMethod } from './context.ts'

export const evm_revert = defineMethod({
  params: positional([snapshotId]),
  answer: (context, [id], request) =>
    request.run((deadlineMs, token) => context.native.evmRevert(id, deadlineMs, token)),
})
