import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { typedData } from '../rpc/parameters/typedData.ts'
import * as values from '../rpc/results/values.ts'
import { defineMethod } from './context.ts'

export const eth_signTypedData_v4 = defineMethod({
  params: positional([address, typedData]),
  result: values.bytesOf(65),
  async answer(context, [address, data], request) {
    const { hashTypedData } = await import('../keystore/hashThread.ts')
    const hash = await request.run((deadlineMs) => hashTypedData(data, deadlineMs))
    return context.native.ethSignTypedData(address, hash)
  },
})
