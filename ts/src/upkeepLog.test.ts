import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { logUpkeep } from './upkeepLog.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('behavior: each failure is logged once, and again after a success', () => {
  const warn = vi.fn()
  let failures: { pruning?: string } | undefined
  const end = logUpkeep(() => failures, { warn } as never)
  const after10s = (reason: string | undefined) => {
    failures = reason === undefined ? undefined : { pruning: reason }
    warn.mockClear()
    vi.advanceTimersByTime(10_000)
    return warn.mock.calls
  }
  const logged = [[{ task: 'pruning', reason: 'damaged' }, 'work on the database failed']]
  expect(after10s(undefined)).toEqual([])
  expect(after10s('damaged')).toEqual(logged)
  expect(after10s('damaged')).toEqual([])
  expect(after10s(undefined)).toEqual([])
  expect(after10s('damaged')).toEqual(logged)
  end()
  expect(after10s('other')).toEqual([])
})
