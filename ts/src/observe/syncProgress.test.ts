import { expect, test } from 'vitest'
import { idle } from '../../tests/syncFigures.ts'
import { syncProgress } from './syncProgress.ts'

test('behavior: stages with their blocks, and the time left for all claimed blocks', () => {
  const now = { ...idle, isSyncing: true, head: 100, bestHeader: 500, claimed: 900, blocksPerSecond: 16 }
  const { stages, secondsLeft } = syncProgress({ ...now, importing: 20, ready: 30, bodiesPerSecond: 40 })
  expect(stages).toEqual([
    { stage: 'headers', block: 500, target: 900, perSecond: 0 },
    { stage: 'bodies', block: 150, target: 500, perSecond: 40 },
    { stage: 'execution', block: 100, target: 500, perSecond: 16 },
  ])
  expect(secondsLeft).toBe(50)
})

test('behavior: a state is counted in bytes between headers and bodies, and the time left is that of the state', () => {
  const state = { pivot: 400, bytes: 3_000_000, totalBytes: 9_000_000, bytesPerSecond: 500_000 }
  const now = { ...idle, isSyncing: true, head: 0, bestHeader: 500, claimed: 500, state }
  const { stages, secondsLeft } = syncProgress(now)
  expect(stages.map(({ stage }) => stage)).toEqual(['headers', 'state', 'bodies', 'execution'])
  expect(stages[1]).toEqual({ stage: 'state', block: 3_000_000, target: 9_000_000, perSecond: 500_000 })
  expect(secondsLeft).toBe(12)
  expect(syncProgress({ ...now, state: { ...state, bytes: 0, totalBytes: 0 } }).secondsLeft).toBeNull()
})

test('behavior: without an executed block the time left is unknown', () => {
  expect(syncProgress({ ...idle, bestHeader: 500 }).secondsLeft).toBeNull()
})

test('behavior: older blocks are counted downwards', () => {
  expect(syncProgress(idle).older).toBeNull()
  const older = { oldest: 60_001, blocksPerSecond: 500 }
  expect(syncProgress({ ...idle, older }).older).toEqual({ oldest: 60_001, perSecond: 500, secondsLeft: 120 })
  expect(syncProgress({ ...idle, older: { ...older, blocksPerSecond: 0 } }).older?.secondsLeft).toBeNull()
})
