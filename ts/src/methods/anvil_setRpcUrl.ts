import { named } from '../rpc/kind.ts'
import { positional } from '../rpc/method.ts'
import { httpUrl } from '../rpc/parameters/text.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const anvil_setRpcUrl = defineMethod({
  params: positional([named('url', httpUrl)]),
  result: values.nothing,
  answer: (context, [url], request) =>
    request.run((deadlineMs, token) => context.native.anvilSetRpcUrl(url, deadlineMs, token)),
})
