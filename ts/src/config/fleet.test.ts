import { describe, expect, test } from 'vitest'
import { fleetSettings } from './fleet.ts'
import { loadConfig } from './load.ts'
import { miningOf } from './network.ts'
import { networkSettings } from './peers.ts'

const url = 'nats://user:secret@nats.internal:4222,tls://other'
const load = (values: Record<string, string>) =>
  loadConfig({
    flags: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, flag: name }])),
  })
const settings = (values: Record<string, string>) => fleetSettings(load(values), '1.2.3')
const replica = { 'fleet.role': 'replica', 'fleet.url': url }

describe('fleetSettings', () => {
  test('behavior: there is none by default', () => {
    expect(settings({})).toBeUndefined()
    expect(settings({ 'fleet.url': url })).toBeUndefined()
  })

  test('behavior: a replica has no peers and does not mine', () => {
    const config = load({ ...replica, network: 'mainnet' })
    expect(fleetSettings(config, '1.2.3')).toMatchObject({
      role: 'replica',
      url,
      credentials: null,
      requiresTls: false,
      name: expect.stringMatching(/^[A-Za-z0-9_-]+-[0-9a-f]{8}$/),
      version: '1.2.3',
      blockRetentionSeconds: 604_800,
      streamCopies: 1,
      changes: [],
    })
    expect(networkSettings(config)).toBeUndefined()
    expect(miningOf(load(replica))).toEqual({ mode: 'off' })
    expect(miningOf(load({ ...replica, 'fleet.role': 'importer' }))).toEqual({ mode: 'auto' })
  })

  test('behavior: contents of the stream of changes', () => {
    expect(settings({ ...replica, 'fleet.changes': 'blocks,logs' })).toMatchObject({ changes: ['blocks', 'logs'] })
  })

  test.each([
    [{ 'fleet.role': 'importer' }, 'fleet.url: a node of a fleet needs the URL of a NATS server'],
    [{ ...replica, mining: 'auto' }, 'mining: a replica does not mine'],
    [{ ...replica, 'p2p.port': '5050' }, 'p2p.port: a replica has no peers'],
    [{ ...replica, 'fork.url': 'http://a' }, 'fleet.role: a fork has a chain'],
    [{ ...replica, 'fleet.tlsCert': 'a.pem' }, 'fleet.tlsCert and fleet.tlsKey: expected both or none'],
    [{ ...replica, 'fleet.url': 'redis://a' }, 'fleet.url: expected a nats or tls URL'],
    [{ ...replica, 'fleet.changes': 'blocks,all' }, 'fleet.changes: expected a list of blocks, transactions'],
    [{ ...replica, 'fleet.changes': 'logs,logs' }, 'fleet.changes: expected a list of blocks, transactions'],
    [{ ...replica, 'fleet.name': 'a.b' }, 'fleet.name: expected at most 64 letters'],
  ])('error: %j', (values, problem) => {
    expect(() => settings(values)).toThrow(problem)
  })
})
