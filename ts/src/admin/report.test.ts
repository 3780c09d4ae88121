import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Counters } from '../observe/counters.ts'
import type { NodeFigures } from '../observe/nodeFigures.ts'
import { Reporter } from './report.ts'

const lane = { threads: 2, waiting: 1, running: 2, refused: 0 }
const reads = { hits: 9, misses: 1 }
const store = {
  blockCacheBytes: 10,
  pinnedBytes: 4,
  compactions: 0,
  valueCacheBytes: 5,
  writeBufferBytes: 7,
  fileBytes: 1000,
  compactionBytes: 0,
  isWriteStopped: false,
  writeFault: null,
}
const figures: NodeFigures = {
  number: 100,
  hash: '0xab',
  timestamp: 1,
  highestBlock: 100,
  pendingTransactions: 3,
  queuedTransactions: 4,
  missingInAddressIndex: null,
  indexedCalls: null,
  sync: null,
  network: null,
  fleet: null,
  lanes: { pool: lane, send: lane, trace: lane },
  upkeep: { oldestState: 0, trieNodes: 1, trieEvictions: 0, failures: {} },
  caches: { answers: reads, blocks: reads, receipts: reads, values: reads },
  store,
}

describe('Reporter', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function start() {
    const workers = [new Counters(['a', 'b']), new Counters(['a', 'b'])] as const
    const state: { core: NodeFigures | undefined } = { core: figures }
    const begin = Date.now()
    const reporter = new Reporter({
      fixed: { version: '1', network: 'regtest', url: 'http://a', workers: 2 },
      workers,
      core: () => state.core,
      health: () => ({
        live: true,
        ready: true,
        head: null,
        lagBlocks: null,
        stalledSeconds: null,
        store: null,
        fleet: null,
        reasons: [],
      }),
      access: () => ({ isOpen: true, staysOpen: false, keepsApps: true }),
      webSockets: () => 1,
      filters: async () => 2,
      nowMs: () => Date.now() - begin,
    })
    reporter.start()
    return { reporter, workers, state }
  }

  test('behavior: the nodes of a fleet, and how far they are behind', async () => {
    const { reporter, state } = start()
    expect((await reporter.report()).fleet).toBeNull()
    const node = { version: '1', hash: '0x', silentMs: 100 }
    const nodes = [
      { ...node, name: 'a', role: 'importer', number: 9, isReady: true, behindMs: 0 },
      { ...node, name: 'b', role: 'replica', number: 7, isReady: false, behindMs: 1500 },
    ]
    const changes = { isHolder: true, sequence: 3, published: 2, failure: null }
    const fleet = { role: 'replica', failure: null, changes, nodes } as unknown as NodeFigures['fleet']
    state.core = { ...figures, fleet }
    expect((await reporter.report()).fleet).toMatchObject({
      publishesChanges: true,
      nodes: [
        { name: 'a', head: 9, blocksBehind: 0, behindMs: 0, isReady: true },
        { name: 'b', head: 7, blocksBehind: 2, behindMs: 1500, isReady: false },
      ],
    })
  })

  test('behavior: rates are of the last half minute, latencies of five', async () => {
    const { reporter, workers } = start()
    for (let turn = 0; turn < 300; turn++) workers[turn % 2]?.count('a', 200, undefined)
    vi.advanceTimersByTime(60_000)
    for (let turn = 0; turn < 60; turn++) workers[turn % 2]?.count('a', 0.05, turn < 6 ? -32000 : undefined)
    vi.advanceTimersByTime(30_000)
    const [method, ...others] = (await reporter.report()).methods
    expect(others).toEqual([])
    expect(method).toMatchObject({ method: 'a', count: 360, errors: 6, perSecond: 2, p50Ms: expect.closeTo(175, -2) })
    expect(method?.curve).toHaveLength(18)
    expect(method?.curve.filter((rate) => rate > 0)).toEqual([60, 12])
    vi.advanceTimersByTime(265_000)
    // The slow requests are too old, the others are within the window.
    expect((await reporter.report()).requests).toMatchObject({
      count: 360,
      perSecond: 0,
      p99Ms: expect.closeTo(0.1, 1),
    })
    expect((await reporter.report()).errors).toEqual([{ code: -32000, count: 6, perSecond: 0 }])
    vi.advanceTimersByTime(60_000)
    expect((await reporter.report()).requests).toMatchObject({ count: 360, p50Ms: null, p99Ms: null })
    reporter.stop()
  })

  test('behavior: refusals are added up by status, with their rate', async () => {
    const { reporter, workers } = start()
    for (const worker of workers) worker.countStatus(401)
    vi.advanceTimersByTime(60_000)
    for (let turn = 0; turn < 60; turn++) workers[0].countStatus(401)
    workers[1].countStatus(418)
    vi.advanceTimersByTime(30_000)
    expect((await reporter.report()).refusals).toEqual([
      { status: 401, count: 62, perSecond: 2 },
      { status: 'other', count: 1, perSecond: expect.closeTo(1 / 30, 3) },
    ])
    reporter.stop()
  })

  test('behavior: blocks that went are no growth; a node that closes is no error', async () => {
    const { reporter, state } = start()
    state.core = { ...figures, number: 160 }
    vi.advanceTimersByTime(30_000)
    expect((await reporter.report()).blocks.perSecond).toBe(2)
    vi.advanceTimersByTime(30_000)
    state.core = { ...figures, number: 90 }
    expect((await reporter.report()).blocks.perSecond).toBe(0)
    state.core = undefined
    vi.advanceTimersByTime(5000)
    expect(await reporter.report()).toMatchObject({ lanes: null, pool: null, database: null, blocks: { perSecond: 0 } })
    reporter.stop()
  })

  test('behavior: asked before there is a past, it says zero and not infinity', async () => {
    const { reporter, workers } = start()
    workers[0].count('b', 1, undefined)
    expect((await reporter.report()).requests).toMatchObject({ count: 1, perSecond: 0, curve: [] })
    vi.advanceTimersByTime(1)
    expect(Number.isFinite((await reporter.report()).requests.perSecond)).toBe(true)
    reporter.stop()
  })
})
