import { overloaded } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { type WorkWait, workWait } from '../rpc/parameters/workWait.ts'
import { Places } from '../rpc/places.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import * as chain from '../rpc/results/chain.ts'
import { type Context, defineMethod } from './context.ts'

/** Distance of two looks for other work. A new head ends the pause: fees and the time of the template change in between. */
const lookMs = 500
/** Requests that may wait at the same time in one worker. */
const waiting = new Places(256)

export const mnr_getWork = defineMethod({
  params: positional([], [workWait]),
  result: chain.work,
  async answer(context, [wait], request) {
    if (wait === undefined) return request.run((deadlineMs, token) => context.native.mnrGetWork(deadlineMs, token))
    await otherWork(context, wait, request)
    return request.runUnlimited((deadlineMs, token) => context.native.mnrGetWork(deadlineMs, token))
  },
})

/** Waits until the current work is not the known one, the time is over or the client has disconnected. */
async function otherWork(context: Context, wait: WorkWait, request: RequestContext): Promise<void> {
  const { client } = request
  if (!waiting.take(client)) throw overloaded()
  try {
    const end = performance.now() + wait.timeoutMs
    for (let left = wait.timeoutMs; left > 0 && !request.isAborted; left = end - performance.now()) {
      const changed = context.heads.next(Math.min(lookMs, left))
      const work = await request.runUnlimited((deadlineMs, token) => context.native.mnrCurrentWork(deadlineMs, token))
      const { blockHashForMergedMining } = JSON.parse(String(work)) as { blockHashForMergedMining: string }
      if (blockHashForMergedMining !== wait.after) return
      await changed
    }
  } finally {
    waiting.free(client)
  }
}
