import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { idle } from '../tests/syncFigures.ts'
import type { SyncFigures } from './observe/nodeFigures.ts'
import { logSync, type PeerFigures } from './syncLog.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('behavior: progress is logged while syncing, then the end, and each failure once', () => {
  const lines: [object, string][] = []
  const log = (values: object, text: string) => {
    lines.push([values, text])
  }
  let now: SyncFigures | null = null
  const end = logSync(() => ({ sync: now, network: null }), true, { info: log, error: log } as never)
  const after10s = (figures: SyncFigures | null) => {
    now = figures
    lines.length = 0
    vi.advanceTimersByTime(10_000)
    return lines.map(([, text]) => text)
  }
  expect(after10s(null)).toEqual([])
  expect(after10s(idle)).toEqual([])
  const running = { ...idle, isSyncing: true, bestHeader: 500, claimed: 900, blocksPerSecond: 16 }
  expect(after10s(running)).toEqual(['synchronizing'])
  expect(lines[0]?.[0]).toMatchObject({ head: 100, bestHeader: 500, claimed: 900, secondsLeft: 50 })
  expect(lines[0]?.[0]).not.toHaveProperty('state')
  const state = { pivot: 400, bytes: 3000, totalBytes: 9000, bytesPerSecond: 500 }
  expect(after10s({ ...running, state })).toEqual(['synchronizing'])
  expect(lines[0]?.[0]).toMatchObject({ state, secondsLeft: 12 })
  const full = { ...running, blocksPerSecond: 0, failure: 'no space left' }
  expect(after10s(full)).toEqual(['the synchronization has stopped; trying again', 'synchronizing'])
  expect(lines[1]?.[0]).toMatchObject({ secondsLeft: null })
  expect(after10s(full)).toEqual(['synchronizing'])
  expect(after10s(idle)).toEqual(['synchronized'])
  end()
  expect(after10s(running)).toEqual([])
})

test('behavior: new bans, and a state that no peer delivers, are logged once', () => {
  const lines: unknown[][] = []
  const log = (...line: unknown[]) => lines.push(line)
  let now = {}
  const end = logSync(() => now as PeerFigures, true, { info: log, warn: log } as never)
  const after10s = (bans: object, hasGivenUpState: boolean) => {
    now = { sync: { ...idle, hasGivenUpState }, network: { bans } }
    vi.advanceTimersByTime(10_000)
    return lines.splice(0)
  }
  expect(after10s({ invalidHeader: 0 }, false)).toEqual([])
  const bans = { invalidHeader: 1, invalidMessages: 2 }
  expect(after10s(bans, false)).toEqual([[{ bans }, 'peers were banned']])
  expect(after10s(bans, true)).toEqual([[{ head: 100 }, 'no peer delivers the state; every block is executed']])
  expect(after10s(bans, true)).toEqual([])
  end()
})

test('behavior: a node that searches for peers says every minute that there are none', () => {
  const lines: unknown[][] = []
  const logger = { warn: (...line: unknown[]) => lines.push(line) } as never
  const network = { peers: { in: 0, out: 0 }, stalledSeconds: null, knownNodes: 3, bans: {}, closed: { lost: 7 } }
  const alone: PeerFigures = { sync: idle, network }
  let now: PeerFigures | undefined = alone
  const ends = [logSync(() => now, true, logger), logSync(() => alone, false, logger)]
  const afterMinute = (figures: PeerFigures | undefined) => {
    now = figures
    lines.length = 0
    vi.advanceTimersByTime(60_000)
    return lines.splice(0)
  }
  const said = [{ head: 100, knownNodes: 3, closed: { lost: 7 } }, 'no peers: still searching; serving what is stored']
  expect(afterMinute(alone)).toEqual([said])
  expect(afterMinute(alone)).toEqual([said])
  expect(afterMinute({ ...alone, network: { ...alone.network, peers: { in: 1, out: 0 } } as never })).toEqual([])
  expect(afterMinute({ sync: null, network: null })).toEqual([])
  expect(afterMinute(undefined)).toEqual([])
  expect(afterMinute(alone)).toEqual([said])
  for (const end of ends) end()
  expect(afterMinute(alone)).toEqual([])
})

test('behavior: a head that does not move is a warning every ten minutes, and its end is logged', () => {
  const lines: unknown[][] = []
  const peers = { in: 1, out: 2 }
  let seconds: number | null = null
  const network = () => ({ peers, stalledSeconds: seconds, knownNodes: 3, bans: {}, closed: {} })
  const log = (...line: unknown[]) => lines.push(line)
  const end = logSync(() => ({ sync: idle, network: network() }), true, { info: log, warn: log } as never)
  const after10s = (now: number | null) => {
    seconds = now
    lines.length = 0
    vi.advanceTimersByTime(10_000)
    return lines.splice(0)
  }
  const warning = (seconds: number) => [{ head: 100, seconds, peers }, 'the head does not move; dialling further nodes']
  expect(after10s(null)).toEqual([])
  expect(after10s(604)).toEqual([warning(604)])
  expect(after10s(614)).toEqual([])
  expect(after10s(1199)).toEqual([])
  expect(after10s(1209)).toEqual([warning(1209)])
  expect(after10s(null)).toEqual([[{ head: 100 }, 'the head moves again']])
  expect(after10s(null)).toEqual([])
  expect(after10s(600)).toEqual([warning(600)])
  end()
})

test('behavior: older blocks are logged every minute until all are stored', () => {
  const lines: unknown[][] = []
  let now: SyncFigures = { ...idle, older: { oldest: 901, blocksPerSecond: 10 } }
  const info = (...line: unknown[]) => lines.push(line)
  const end = logSync(() => ({ sync: now, network: null }), false, { info } as never)
  vi.advanceTimersByTime(60_000)
  now = idle
  vi.advanceTimersByTime(120_000)
  end()
  expect(lines).toEqual([
    [{ oldest: 901, perSecond: 10, secondsLeft: 90 }, 'fetching older blocks'],
    [{ head: 100 }, 'all older blocks are stored'],
  ])
})
