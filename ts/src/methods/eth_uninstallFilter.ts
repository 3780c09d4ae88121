import { positional } from '../rpc/method.ts'
import { filterId } from '../rpc/parameters/filterId.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_uninstallFilter = defineMethod({
  params: positional([filterId]),
  result: values.flag,
  answer: (context, [id]) => context.filters.uninstall(id),
})
