import { methodNotFound } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { readWanted, subscriptionKind, subscriptionOptions } from '../rpc/parameters/subscription.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import * as values from '../rpc/results/values.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { type Context, defineMethod } from './context.ts'

export const eth_subscribe = defineMethod({
  params: positional([subscriptionKind], [subscriptionOptions]),
  result: values.bytesOf(16),
  answer: (context, [kind, options], request) => {
    const { subscriber } = request
    if (subscriber === undefined) throw methodNotFound()
    const wanted = readWanted(kind, options)
    if (wanted.kind === 'newWork') return subscribeToWork(context, subscriber, request)
    return JSON.stringify(context.subscriptions.subscribe(subscriber, wanted))
  },
})

/** Fails like mnr_getWork while there is no work. */
async function subscribeToWork(context: Context, subscriber: Subscriber, request: RequestContext): Promise<string> {
  const work = await request.run((deadlineMs, token) => context.native.mnrCurrentWork(deadlineMs, token))
  const { blockHashForMergedMining } = JSON.parse(String(work)) as { blockHashForMergedMining: string }
  // A connection that has closed meanwhile would keep its subscription.
  if (request.isAborted) throw methodNotFound()
  return JSON.stringify(context.subscriptions.subscribe(subscriber, { kind: 'newWork' }, blockHashForMergedMining))
}
