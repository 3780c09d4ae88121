import { expect, test } from 'vitest'
import { RpcError } from '../rpc/errors.ts'
import { guarded, NativeDefect } from './load.ts'

const refusal = new Error('{"code":-32015,"message":"revert no","data":"0x01"}')

const addon = guarded({
  netVersion: () => '"33"',
  ethChainId: () => {
    throw refusal
  },
  ethCall: async () => {
    throw refusal
  },
  evmReset: async () => {
    throw new Error('{"code":-32005,"message":"Server overloaded"}')
  },
  evmMine: async () => {
    throw new Error('disk full')
  },
})

test('behavior: results pass unchanged', () => {
  expect(addon.netVersion()).toBe('"33"')
})

test('error: refusals become RpcError, thrown or rejected', async () => {
  const expected = { code: -32015, message: 'revert no', data: '0x01' }
  expect(() => addon.ethChainId()).toThrow(expect.objectContaining(expected))
  await expect(addon.ethCall('{}', 'latest', '', '', 0, 1, false)).rejects.toMatchObject(expected)
  await expect(addon.ethCall('{}', 'latest', '', '', 0, 1, false)).rejects.toBeInstanceOf(RpcError)
})

test('error: overload has a separate HTTP status', async () => {
  await expect(addon.evmReset(0, 1)).rejects.toMatchObject({ code: -32005, httpStatus: 503 })
})

test('error: anything else is a defect', async () => {
  await expect(addon.evmMine(1, -1, 0, 1)).rejects.toBeInstanceOf(NativeDefect)
})
