import { expect, test } from 'vitest'
import { fractionOf } from './cargo.mjs'
import { Progress } from './progress.mjs'

test('behavior: the remaining time follows from the progress, weighted by piece', () => {
  let now = 0
  const progress = new Progress(() => now)
  const [packages, rocksdb, crates] = [
    progress.add('packages', 20),
    progress.add('RocksDB', 160),
    progress.add('crates', 220),
  ]
  expect(`${progress}`).toBe('0 %')
  now = 20_000
  packages(1)
  rocksdb(0.125)
  expect(`${progress}`).toBe('10 %, about 3 min left (RocksDB)')
  now = 40_000
  rocksdb(0.5)
  rocksdb(0.4)
  crates(0.01)
  expect(`${progress}`).toBe('25 %, about 2 min left (RocksDB, crates)')
  now = 100_000
  rocksdb(1)
  crates(1)
  expect(`${progress}`).toBe('100 %, about 0 s left')
})

test('behavior: the crates of this project, which come last, count more than others', () => {
  expect(fractionOf(0, 308)).toBe(0)
  expect(fractionOf(300, 308)).toBeCloseTo(300 / 780)
  expect(fractionOf(304, 308)).toBeCloseTo(540 / 780)
  expect(fractionOf(308, 308)).toBe(1)
  expect(fractionOf(3, 6)).toBe(0.5)
  expect(fractionOf(0, 0)).toBe(0)
})
