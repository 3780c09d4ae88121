import { expect, test } from 'vitest'
import { hashOf, newApiKey } from './apiKey.ts'
import { Keyring } from './keyring.ts'

const key = newApiKey()
const hash = hashOf(key).toString('hex')

test('behavior: a key is good until its last millisecond', () => {
  let now = 999
  const ring = new Keyring({ isOpen: false, keys: [{ hash, expiresAt: 1000 }] }, () => now)
  const credential = ring.identify(key)
  expect(credential).toBe(hash)
  expect(ring.isGood(hash)).toBe(true)
  now = 1000
  expect(ring.identify(key)).toBeUndefined()
  expect(ring.isGood(hash)).toBe(false)
})

test('behavior: a hash that begins like a good one is not good', () => {
  const almost = `${hash.slice(0, 63)}${hash.endsWith('0') ? '1' : '0'}`
  const ring = new Keyring({ isOpen: false, keys: [{ hash: almost, expiresAt: null }] })
  expect(ring.identify(key)).toBeUndefined()
})

test('behavior: only the exact form of a key is looked at', () => {
  const ring = new Keyring({ isOpen: false, keys: [{ hash, expiresAt: null }] })
  for (const text of ['', hash, key.slice(1), `${key}x`, `${key}\n`, key.toUpperCase(), 'rz_'.repeat(1e6)]) {
    expect(ring.identify(text)).toBeUndefined()
  }
  expect(ring.identify(key)).toBe(hash)
})

test('behavior: who came without a key has to go when one is asked for', () => {
  const ring = new Keyring({ isOpen: true, keys: [] })
  let changes = 0
  ring.onReplaced(() => changes++)
  const credential = ring.identify('')
  expect(credential).toBe('')
  ring.replace({ isOpen: false, keys: [{ hash, expiresAt: null }] })
  expect([changes, ring.isGood(''), ring.identify('')]).toEqual([1, false, undefined])
})
