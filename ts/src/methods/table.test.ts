import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkModules, entriesFor, moduleOf, servedModules } from './entries.ts'
import { notOffered, table } from './table.ts'

test('behavior: every method file has a spec and every spec a file of its name', () => {
  const files = readdirSync(new URL('.', import.meta.url))
    .filter((name) => /^[a-z0-9]+_.*\.ts$/.test(name))
    .map((name) => name.slice(0, -3))
  expect(table.map((spec) => spec.name).sort()).toEqual(files.sort())
})

test('behavior: names are unique and carry their module', () => {
  const names = [...table.flatMap((spec) => [spec.name, spec.alias ?? []].flat()), ...notOffered.map(([name]) => name)]
  expect(new Set(names).size).toBe(names.length)
  for (const { name, module } of table) expect(moduleOf(name), name).toBe(module)
})

test('behavior: aliases answer under both prefixes', () => {
  const entries = entriesFor({}, true)
  expect(entries.get('rsk_protocolVersion')).toEqual(entries.get('eth_protocolVersion'))
  expect(entries.get('chain_protocolVersion')).toEqual(entries.get('eth_protocolVersion'))
  expect(entries.get('chain_getRawBlockHeaderByHash')).toEqual(entries.get('rsk_getRawBlockHeaderByHash'))
  expect(entries.get('chain_getRawBlockHeaderByHash')).toHaveProperty('spec')
})

test('behavior: a list of a module covers both names of a method', () => {
  for (const listed of ['rsk_getRawBlockHeaderByHash', 'chain_getRawBlockHeaderByHash']) {
    const denied = entriesFor({ rsk: { deny: [listed] } }, true)
    const allowed = entriesFor({ rsk: { allow: [listed] } }, true)
    for (const name of ['rsk_getRawBlockHeaderByHash', 'chain_getRawBlockHeaderByHash']) {
      expect(denied.get(name)).not.toHaveProperty('spec')
      expect(allowed.get(name)).toHaveProperty('spec')
    }
    expect(allowed.get('rsk_getRawBlockHeaderByNumber')).not.toHaveProperty('spec')
  }
})

test.each([
  'rsk_getStorageBytesAt',
  'rsk_flush',
  'rsk_shutdown',
  'chain_shutdown',
])('behavior: %s is denied as long as no list is given', (name) => {
  expect(entriesFor({}, true).get(name)).not.toHaveProperty('spec')
  expect(entriesFor({ rsk: { enabled: true } }, true).get(name)).not.toHaveProperty('spec')
  expect(entriesFor({ rsk: { allow: [name] } }, false).get(name)).toHaveProperty('spec')
  expect(entriesFor({ rsk: { deny: [] } }, false).get(name)).toHaveProperty('spec')
  expect(entriesFor({ rsk: { deny: [name] } }, false).get(name)).not.toHaveProperty('spec')
  expect(entriesFor({ rsk: { allow: [name], deny: [name] } }, false).get(name)).not.toHaveProperty('spec')
})

test('behavior: development methods are served on development networks only, unless enabled', () => {
  const isServed = (modules: Parameters<typeof entriesFor>[0], isDevelopment: boolean) =>
    'spec' in (entriesFor(modules, isDevelopment).get('evm_mine') ?? {})
  expect(isServed({}, true)).toBe(true)
  expect(isServed({}, false)).toBe(false)
  expect(isServed({ evm: { enabled: true } }, false)).toBe(true)
  expect(isServed({ evm: { enabled: false } }, true)).toBe(false)
})

test('behavior: traces are served on development networks only, unless enabled', () => {
  const isServed = (name: string, modules: Parameters<typeof entriesFor>[0], isDevelopment: boolean) =>
    'spec' in (entriesFor(modules, isDevelopment).get(name) ?? {})
  for (const name of ['debug_traceTransaction', 'trace_block']) {
    expect(isServed(name, {}, true)).toBe(true)
    expect(isServed(name, {}, false)).toBe(false)
  }
  expect(isServed('trace_block', { trace: { enabled: true } }, false)).toBe(true)
  expect(isServed('trace_block', { debug: { enabled: true } }, false)).toBe(false)
})

test('behavior: lists of a module allow and deny; deny wins', () => {
  const entries = entriesFor(
    { web3: { allow: ['web3_sha3', 'web3_clientVersion'], deny: ['web3_clientVersion'] } },
    true,
  )
  expect(entries.get('web3_sha3')).toHaveProperty('spec')
  expect(entries.get('web3_clientVersion')).not.toHaveProperty('spec')
  const modules = JSON.parse(servedModules({ web3: { enabled: false } }, false))
  expect(modules).toMatchObject({ eth: '1.0', net: '1.0', rpc: '1.0', rsk: '1.0' })
  expect(modules).not.toHaveProperty('web3')
})

test('error: settings of modules and methods that do not exist', () => {
  const check = (modules: Parameters<typeof checkModules>[0]) => () =>
    checkModules(modules, [{ path: 'http', modules }])
  const both = (problem: string) => `${problem}\nhttp.${problem}`
  expect(check({ evn: { enabled: true } })).toThrow(both('modules.evn: no such module'))
  expect(check({ anvil: {} })).toThrow(both('modules.anvil: no such module'))
  expect(check({ eth: { deny: ['eth_cal'] } })).toThrow(both('modules.eth.deny: the module has no method eth_cal'))
  expect(check({ eth: { allow: ['web3_sha3'] } })).toThrow(
    both('modules.eth.allow: the module has no method web3_sha3'),
  )
  expect(check({ eth: { timeoutMs: { call: 1 } } })).toThrow(
    both('modules.eth.timeoutMs: the module has no method call'),
  )
  const deny = ['rsk_flush', 'chain_protocolVersion']
  expect(check({ rsk: { deny }, rpc: { allow: ['rpc.discover'] }, hardhat: { deny: ['anvil_mine'] } })).not.toThrow()
})
