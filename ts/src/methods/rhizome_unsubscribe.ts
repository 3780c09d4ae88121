import { methodNotFound } from '../rpc/errors.ts'
import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { filterId } from '../rpc/parameters/filterId.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const rhizome_unsubscribe = defineMethod({
  params: positional([named('subscriptionId', filterId)]),
  result: values.flag,
  answer: (context, [id], { subscriber }) => {
    if (subscriber === undefined) throw methodNotFound()
    return String(context.feeds.unsubscribe(subscriber, id))
  },
})
