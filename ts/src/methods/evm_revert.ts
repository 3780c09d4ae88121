import { positional } from '../rpc/method.ts'
import { snapshotId } from '../rpc/parameters/snapshotId.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const evm_revert = defineMethod({
  params: positional([snapshotId]),
  result: values.flag,
  answer: (context, [id], request) =>
    request.run((deadlineMs, token) => context.native.evmRevert(id, deadlineMs, token)),
})
