import { positional } from '../rpc/method.ts'
import { defineMethod } from './context.ts'

export const rsk_shutdown = defineMethod({
  params: positional([]),
  answer(context) {
    context.shutdown()
    return 'null'
  },
})
