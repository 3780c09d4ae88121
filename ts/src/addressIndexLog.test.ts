import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { logAddressIndex } from './addressIndexLog.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('behavior: the missing blocks are logged while there are any, then the end once', () => {
  const lines: unknown[] = []
  const info = (...line: unknown[]) => {
    lines.push(line)
  }
  let missing: number | null | undefined
  const end = logAddressIndex(() => missing, { info } as never)
  const after10s = (blocks: number | null | undefined) => {
    missing = blocks
    lines.length = 0
    vi.advanceTimersByTime(10_000)
    return [...lines]
  }
  expect(after10s(undefined)).toEqual([])
  expect(after10s(null)).toEqual([])
  expect(after10s(5000)).toEqual([[{ missingBlocks: 5000 }, 'building the address index']])
  expect(after10s(0)).toEqual([['the address index is complete']])
  expect(after10s(0)).toEqual([])
  end()
  expect(after10s(5000)).toEqual([])
})
