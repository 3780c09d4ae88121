import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import { BitcoinChain } from './bitcoin-chain.mjs'
import { BitcoinPayments } from './bitcoin-payments.mjs'
import { callOf } from './bridge-abi.mjs'
import { viewCalls } from './bridge-views.mjs'

test('behavior: all views are called in the end, with and without a Bitcoin transaction', () => {
  const random = new Random(9)
  const payments = new BitcoinPayments(random)
  const { address, script } = payments.user()
  const transaction = payments.plainPegIn(script)
  const block = new BitcoinChain().mine([transaction])
  const seen = new Set()
  for (const world of [{ address }, { address, block, mined: { transaction, block, index: 1 } }]) {
    for (let count = 0; count < 30; count++) {
      for (const data of viewCalls(random, world)) seen.add(data.slice(0, 10))
    }
  }
  expect(seen.has(callOf('getBtcTransactionConfirmations', [block.hash, block.hash, 0, []]).slice(0, 10))).toBe(true)
  expect(seen.size).toBe(54)
})
