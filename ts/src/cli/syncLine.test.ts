import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { idle } from '../../tests/syncFigures.ts'
import type { SyncFigures } from '../observe/nodeFigures.ts'
import { showSync } from './syncLine.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function shown(isTTY: boolean, states: readonly (SyncFigures | null)[]): string[] {
  let now: SyncFigures | null = null
  let text = ''
  const end = showSync(() => now, {
    isTTY,
    write(part: string) {
      text += part
      return true
    },
  } as never)
  const lines = states.map((state) => {
    now = state
    vi.advanceTimersByTime(1000)
    return text.split('\r\x1b[K').at(-1) ?? ''
  })
  end()
  return [...lines, text]
}

const running = { ...idle, isSyncing: true, bestHeader: 500, claimed: 900, importing: 5, ready: 10 }

test('behavior: stages, rate, peers and time left in one line, then the end', () => {
  const lines = shown(true, [null, idle, running, { ...running, blocksPerSecond: 8, peers: 2 }, idle])
  expect(lines.slice(0, 5)).toEqual([
    '',
    '',
    'headers 500/900  bodies 115/500  execution 100/500  0 blocks/s  1 peer',
    'headers 500/900  bodies 115/500  execution 100/500  8 blocks/s  2 peers  1 min 40 s left',
    'synchronized: block 100\n',
  ])
})

test('behavior: a state that is downloaded, in megabytes', () => {
  const state = { pivot: 400, bytes: 3_000_000, totalBytes: 9_040_000, bytesPerSecond: 500_000 }
  const [line] = shown(true, [{ ...running, head: 0, importing: 0, ready: 0, state }])
  expect(line).toBe('headers 500/900  state 3.0/9.0 MB  bodies 0/500  execution 0/500  0.5 MB/s  1 peer  13 s left')
})

test('behavior: older blocks after the end, until all are stored', () => {
  const older = { oldest: 901, blocksPerSecond: 10 }
  const lines = shown(true, [running, { ...idle, older }, idle])
  expect(lines.slice(1, 3)).toEqual([
    'synchronized: block 100\nolder blocks down to 901  10 blocks/s  1 min 30 s left',
    '',
  ])
})

test('behavior: a failure is named, and the line is cleared at the end', () => {
  const lines = shown(true, [{ ...running, failure: 'no space left' }])
  expect(lines[0]).toBe('synchronization stopped: no space left; trying again')
  expect(lines.at(-1)?.endsWith('\r\x1b[K')).toBe(true)
})

test('behavior: nothing without a terminal', () => {
  expect(shown(false, [running, idle])).toEqual(['', '', ''])
})
