import { methodNotFound } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { checkServed, feedKind, feedOptions, readFeed } from '../rpc/parameters/feed.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rhizome_subscribe = defineMethod({
  params: positional([feedKind], [feedOptions]),
  result: values.bytesOf(16),
  answer: async (context, [, options], request) => {
    const { subscriber } = request
    if (subscriber === undefined) throw methodNotFound()
    const wanted = options ?? readFeed({})
    checkServed(wanted, context.serves)
    return JSON.stringify(await context.feeds.subscribe(subscriber, wanted, request))
  },
})
