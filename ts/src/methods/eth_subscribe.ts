import { methodNotFound } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { readWanted, subscriptionKind, subscriptionOptions } from '../rpc/parameters/subscription.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_subscribe = defineMethod({
  params: positional([subscriptionKind], [subscriptionOptions]),
  result: values.bytesOf(16),
  answer: (context, [kind, options], { subscriber }) => {
    if (subscriber === undefined) throw methodNotFound()
    return JSON.stringify(context.subscriptions.subscribe(subscriber, readWanted(kind, options)))
  },
})
