import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SyncFigures } from './observe/nodeFigures.ts'
import { logSync } from './syncLog.ts'

const idle: SyncFigures = {
  isSyncing: false,
  start: 0,
  head: 100,
  bestHeader: 100,
  claimed: 100,
  secondsBehind: 0,
  headers: 100,
  bodies: 100,
  headersPerSecond: 0,
  bodiesPerSecond: 0,
  blocksPerSecond: 0,
  peers: 1,
  peersOverBudget: 0,
  budgetWaits: 0,
  missing: 0,
  requested: 0,
  ready: 0,
  importing: 0,
  failure: null,
}

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
  const end = logSync(() => now, { info: log, error: log } as never)
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
  const full = { ...running, blocksPerSecond: 0, failure: 'no space left' }
  expect(after10s(full)).toEqual(['the synchronization has stopped; trying again', 'synchronizing'])
  expect(lines[1]?.[0]).toMatchObject({ secondsLeft: null })
  expect(after10s(full)).toEqual(['synchronizing'])
  expect(after10s(idle)).toEqual(['synchronized'])
  end()
  expect(after10s(running)).toEqual([])
})
