import { Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import { callsLike, PoolSenders } from './bridge.mjs'

const transaction = { from: `0x${'22'.repeat(20)}`, to: `0x${'11'.repeat(20)}`, value: '0x0', input: '0x0c5a9990' }

test('behavior: calls repeat the data from several senders, and damage it', () => {
  const calls = callsLike(transaction, new Random(7))
  expect(calls).toEqual(callsLike(transaction, new Random(7)))
  expect(new Set(calls.map(({ from }) => from)).size).toBe(5)
  expect(calls.some(({ data }) => data !== transaction.input)).toBe(true)
})

test('behavior: pool transactions of a sender have consecutive nonces', async () => {
  const senders = new PoolSenders(new Random(7))
  await senders.start(async () => 3)
  const next = new Map()
  for (let count = 0; count < 50; count++) {
    const { from, nonce } = Transaction.from(await senders.next())
    expect(nonce).toBe(next.get(from) ?? 3)
    next.set(from, nonce + 1)
  }
  expect(next.size).toBe(6)
})

test('behavior: damaged pool transactions differ from those that they are made of', async () => {
  const senders = [0, 1].map(() => new PoolSenders(new Random(7)))
  for (const each of senders) await each.start(async () => 3)
  const [damaged, whole] = await Promise.all([senders[0].damaged(), senders[1].next()])
  expect(damaged).not.toBe(whole)
})
