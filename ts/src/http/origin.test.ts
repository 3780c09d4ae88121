import { expect, test } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { originsOf } from '../config/network.ts'
import { isOriginAllowed } from './origin.ts'

const allowedOn = (network: string, origin: string) =>
  isOriginAllowed(origin, originsOf(loadConfig({ settings: { network } })))

const extensions = [
  'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn',
  'moz-extension://4c9f8a1e-1111-2222-3333-0123456789ab',
]

test('behavior: extensions and Remix reach development networks only', () => {
  for (const origin of [...extensions, 'https://remix.ethereum.org', 'http://remix.ethereum.org']) {
    expect(['regtest', 'devnet', 'testnet', 'mainnet'].map((network) => allowedOn(network, origin))).toEqual([
      true,
      true,
      false,
      false,
    ])
  }
})

test('behavior: not allowed if signatures are valid on a public network', () => {
  const origins = (chainId: number) => originsOf(loadConfig({ settings: { development: { chainId } } }))
  for (const origin of extensions) {
    expect([30, 31, 33].map((chainId) => isOriginAllowed(origin, origins(chainId)))).toEqual([false, false, true])
  }
})

test('behavior: pages of this machine reach every network, other pages none', () => {
  for (const network of ['regtest', 'mainnet']) {
    expect(allowedOn(network, 'http://localhost:3000')).toBe(true)
    for (const origin of [
      'https://evil.example',
      'https://remix.ethereum.org.evil.example',
      'https://evil.example/chrome-extension://',
      'null',
    ]) {
      expect(allowedOn(network, origin)).toBe(false)
    }
  }
})

test('behavior: a list of the operator is all there is', () => {
  const config = loadConfig({ settings: { http: { cors: ['moz-extension://*'] } } })
  expect(extensions.map((origin) => isOriginAllowed(origin, originsOf(config)))).toEqual([false, true])
  expect(isOriginAllowed('https://remix.ethereum.org', originsOf(config))).toBe(false)
})
