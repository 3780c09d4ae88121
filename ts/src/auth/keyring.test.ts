import { expect, test } from 'vitest'
import { hashOf, newApiKey } from './apiKey.ts'
import { type Admission, Keyring, type Keys } from './keyring.ts'
import { meterMemory } from './meter.ts'
import { MethodGroups } from './methodGroups.ts'
import { changedPolicy, noPolicy, type PolicyChange } from './policy.ts'

const key = newApiKey()
const hash = hashOf(key).toString('hex')
const client = { source: '127.0.0.1', origin: '', token: '' }

function keysOf(expiresAt: number | null = null, change: PolicyChange = {}, keyHash = hash): Keys {
  const access = { name: 'a', meterIndex: 0, burst: null, ...changedPolicy(noPolicy, change) }
  return { isOpen: false, apps: [access], keys: [{ hash: keyHash, expiresAt, app: 0 }] }
}

function ringOf(keys: Keys, now?: () => number): Keyring {
  return new Keyring(keys, meterMemory(), new MethodGroups([['eth_call'], ['eth_chainId']]), now)
}

function admitted(ring: Keyring, from = client): Admission {
  const entry = ring.identify(key)
  const admission = entry === undefined ? 'key' : ring.admit(entry, from)
  if (typeof admission === 'string' || admission instanceof Promise) throw new Error(String(admission))
  return admission
}

test('behavior: a key is good until its last millisecond', () => {
  let now = 999
  const ring = ringOf(keysOf(1000), () => now)
  const admission = admitted(ring)
  expect(ring.isValid(admission)).toBe(true)
  now = 1000
  expect(ring.identify(key)).toBeUndefined()
  expect([ring.isValid(admission), ring.renew(admission)]).toEqual([false, 'key'])
})

test('behavior: a hash that begins like a good one is not good', () => {
  const almost = `${hash.slice(0, 63)}${hash.endsWith('0') ? '1' : '0'}`
  expect(ringOf(keysOf(null, {}, almost)).identify(key)).toBeUndefined()
})

test('behavior: only the exact form of a key is looked at', () => {
  const ring = ringOf(keysOf())
  for (const text of ['', hash, key.slice(1), `${key}x`, `${key}\n`, key.toUpperCase(), 'rz_'.repeat(1e6)]) {
    expect(ring.identify(text)).toBeUndefined()
  }
  expect(ring.identify(key)).toBeDefined()
})

test('behavior: an admission without a key ends when keys are required', () => {
  const ring = ringOf({ isOpen: true, apps: [], keys: [] })
  let changes = 0
  ring.onReplaced(() => changes++)
  const entry = ring.identify('')
  const { admission } = entry ?? {}
  if (admission === undefined) throw new Error('nobody is let in')
  expect([ring.isValid(admission), admission.caller]).toEqual([true, undefined])
  ring.replace(keysOf())
  expect([changes, ring.isValid(admission), ring.renew(admission), ring.identify('')]).toEqual([
    1,
    false,
    'key',
    undefined,
  ])
})

test('behavior: a change of another app keeps an admission; a change of its app renews it', () => {
  const ring = ringOf(keysOf())
  const admission = { ...admitted(ring), client }
  ring.replace(keysOf())
  expect([ring.isValid(admission), ring.renew(admission)]).toEqual([true, admission])
  ring.replace(keysOf(null, { allow: { methods: ['eth_call'] } }))
  expect(ring.isValid(admission)).toBe(false)
  const renewed = ring.renew(admission) as Admission
  expect([...(renewed.caller?.methods ?? [])]).toEqual(['eth_call'])
  ring.replace(keysOf(null, { allow: { sources: ['10.0.0.0/8'] } }))
  expect(ring.renew(admission)).toBe('source')
  // An admission without client information.
  expect(ring.renew({ ...admission, client: undefined })).toBe('key')
  ring.replace(keysOf(null, { allow: { sources: ['127.0.0.0/8'] } }))
  expect(ring.renew(admission)).toMatchObject({ client })
})

test('behavior: sources and origins are looked at where an app has a list', () => {
  const ring = ringOf(keysOf(null, { allow: { sources: ['127.0.0.1'], origins: ['https://a.example'] } }))
  const entry = ring.identify(key)
  if (entry === undefined) throw new Error('not found')
  expect(ring.admit(entry, { ...client, source: '127.0.0.2', origin: 'https://a.example' })).toBe('source')
  expect(ring.admit(entry, client)).toBe('origin')
  expect(ring.admit(entry, { ...client, origin: 'https://a.example.evil' })).toBe('origin')
  expect(ring.admit(entry, { ...client, origin: 'https://A.example' })).toMatchObject({ key: entry })
})
