import { describe, expect, test } from 'vitest'
import { judgeHealth } from './health.ts'

const figures = {
  number: 90,
  hash: '0xab',
  timestamp: 1000,
  highestBlock: 100,
  store: { isWriteStopped: false, writeFault: null },
  sync: null,
  network: null,
  fleet: null,
}
const unlimited = { maxHeadAgeSeconds: 0, maxLagBlocks: 0, maxFleetFailureSeconds: 0, needsPeers: false }
describe('judgeHealth', () => {
  test('behavior: without limits an open node is ready, however old its head', () => {
    expect(judgeHealth(figures, unlimited, 1_500_000, false)).toEqual({
      live: true,
      ready: true,
      head: { number: 90, hash: '0xab', ageSeconds: 500 },
      lagBlocks: 10,
      stalledSeconds: null,
      store: null,
      fleet: null,
      reasons: [],
    })
  })

  test('behavior: at the limit, and beyond it', () => {
    expect(
      judgeHealth(figures, { ...unlimited, maxHeadAgeSeconds: 500, maxLagBlocks: 10 }, 1_500_000, false).ready,
    ).toBe(true)
    const late = judgeHealth(figures, { ...unlimited, maxHeadAgeSeconds: 499, maxLagBlocks: 9 }, 1_500_000, false)
    expect(late.ready).toBe(false)
    expect(late.reasons).toEqual([
      'the head is 500 s old; at most 499 s are allowed',
      'the head is 10 blocks behind the highest block; at most 9 are allowed',
    ])
  })

  test('behavior: a better header counts as a block, and a failed synchronization is a reason', () => {
    const sync = { bestHeader: 150, failure: 'no space left on the disk' }
    const behind = judgeHealth({ ...figures, sync }, { ...unlimited, maxLagBlocks: 59 }, 1_500_000, false)
    expect(behind.lagBlocks).toBe(60)
    expect(behind.reasons).toEqual([
      'the head is 60 blocks behind the highest block; at most 59 are allowed',
      'the synchronization has stopped (no space left on the disk)',
    ])
  })

  test('behavior: an old head of a node that needs peers says that there are none', () => {
    const limits = { ...unlimited, maxHeadAgeSeconds: 499, needsPeers: true }
    expect(judgeHealth(figures, limits, 1_500_000, false).reasons).toEqual([
      expect.stringMatching(/^the node runs without peers: .* health\.maxHeadAgeSeconds = 0/),
      'the head is 500 s old; at most 499 s are allowed',
    ])
    expect(judgeHealth(figures, limits, 1_499_000, false).ready).toBe(true)
    const network = (inbound: number) => ({
      ...figures,
      network: { peers: { in: inbound, out: 0 }, stalledSeconds: null },
    })
    expect(judgeHealth(network(0), limits, 1_500_000, false).reasons[0]).toBe('there are no peers')
    expect(judgeHealth(network(1), limits, 1_500_000, false).reasons).toHaveLength(1)
  })

  test('behavior: a stalled head is a reason where its age is one, and always shown', () => {
    const stalled = { ...figures, network: { peers: { in: 0, out: 3 }, stalledSeconds: 610 } }
    const old = judgeHealth(stalled, { ...unlimited, maxHeadAgeSeconds: 499 }, 1_500_000, false)
    expect(old).toMatchObject({ ready: false, stalledSeconds: 610 })
    expect(old.reasons).toEqual([
      'the head has not moved for 610 s although peers are connected',
      'the head is 500 s old; at most 499 s are allowed',
    ])
    expect(judgeHealth(stalled, unlimited, 1_500_000, false)).toMatchObject({ ready: true, stalledSeconds: 610 })
  })

  test('behavior: a block of the near future is not of negative age', () => {
    expect(judgeHealth(figures, unlimited, 900_000, false)).toMatchObject({ head: { ageSeconds: 0 } })
  })

  test('behavior: a replica that lags, or is cut off from its fleet for long, is not ready', () => {
    const of = (change: object) => {
      const part = { role: 'replica' as const, isConnected: true, isBehind: false, failure: null, failingSeconds: 0 }
      const limits = { ...unlimited, maxFleetFailureSeconds: 60 }
      return judgeHealth({ ...figures, fleet: { ...part, ...change } }, limits, 0, false)
    }
    expect(of({})).toMatchObject({ ready: true, fleet: { role: 'replica', isConnected: true, failure: null } })
    expect(of({ isBehind: true }).reasons).toEqual([
      'the best head of the fleet has been missing for more than 1 s, or since the start',
    ])
    const away = { isConnected: false, failure: 'the server is away', failingSeconds: 60 }
    expect(of(away)).toMatchObject({ ready: true, fleet: { failure: 'the server is away' } })
    expect(of({ ...away, failingSeconds: 61 }).reasons).toEqual([
      'the node has been cut off from its fleet for 61 s; at most 60 s are allowed (the server is away)',
    ])
    expect(of({ ...away, role: 'importer', isBehind: true, failingSeconds: 61 }).ready).toBe(true)
  })

  test('behavior: closed, ending, and a database that takes no writes', () => {
    expect(judgeHealth(undefined, unlimited, 0, false)).toMatchObject({
      live: true,
      head: null,
      lagBlocks: null,
      reasons: ['the chain is not open'],
    })
    expect(judgeHealth(figures, unlimited, 0, true).reasons).toEqual(['the node is shutting down'])
    const stopped = { isWriteStopped: true, writeFault: null }
    expect(judgeHealth({ ...figures, store: stopped }, unlimited, 0, false).ready).toBe(false)
    const full = { isWriteStopped: false, writeFault: 'no space left on its disk' }
    const { ready, reasons } = judgeHealth({ ...figures, store: full }, unlimited, 0, false)
    expect([ready, reasons]).toEqual([false, ['the node cannot write: no space left on its disk']])
  })
})
