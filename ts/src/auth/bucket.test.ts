import { expect, test } from 'vitest'
import { MemoryRates } from './bucket.ts'

const limits = { app: 'a', unitsPerSecond: 100, burst: 50 }

test('behavior: a new bucket is full, fills with time, and never holds more than its burst', async () => {
  const rates = new MemoryRates()
  expect(await rates.spend([{ ...limits, units: 0 }], 1000)).toEqual([50])
  expect(await rates.spend([{ ...limits, units: 50 }], 1000)).toEqual([0])
  expect(await rates.spend([{ ...limits, units: 0 }], 1250)).toEqual([25])
  expect(await rates.spend([{ ...limits, units: 0 }], 9000)).toEqual([50])
})

test('behavior: a bucket that was full for long is empty when it was spent', async () => {
  const rates = new MemoryRates()
  await rates.spend([{ ...limits, units: 50 }], 0)
  expect(await rates.spend([{ ...limits, units: 0 }], 1000)).toEqual([50])
  expect(await rates.spend([{ ...limits, units: 50 }], 60_000)).toEqual([0])
  expect(await rates.spend([{ ...limits, units: 0 }], 60_100)).toEqual([10])
})

test('behavior: a caller that had to wait gets the refill of that time, once', async () => {
  const rates = new MemoryRates()
  await rates.spend([{ ...limits, units: 50 }], 0)
  expect(await rates.spend([{ ...limits, units: 0, room: 80 }], 1000)).toEqual([80])
  expect(await rates.spend([{ ...limits, units: 80, room: 80 }], 1000)).toEqual([0])
  expect(await rates.spend([{ ...limits, units: 0, room: 80 }], 1700)).toEqual([70])
  expect(await rates.spend([{ ...limits, units: 0 }], 1700)).toEqual([50])
  expect(await rates.spend([{ ...limits, units: 50, room: 80 }], 9000)).toEqual([0])
})

test('behavior: units spent beyond the level are paid back', async () => {
  const rates = new MemoryRates()
  expect(await rates.spend([{ ...limits, units: 80 }], 0)).toEqual([-30])
  expect(await rates.spend([{ ...limits, units: 0 }], 300)).toEqual([0])
})

test('behavior: a clock that was set back adds no units', async () => {
  const rates = new MemoryRates()
  await rates.spend([{ ...limits, units: 50 }], 5000)
  expect(await rates.spend([{ ...limits, units: 0 }], 1000)).toEqual([0])
  expect(await rates.spend([{ ...limits, units: 0 }], 1100)).toEqual([10])
})

test('behavior: each app has its own bucket', async () => {
  const rates = new MemoryRates()
  const spent = [
    { ...limits, units: 20 },
    { ...limits, app: 'b', units: 5 },
  ]
  expect(await rates.spend(spent, 0)).toEqual([30, 45])
})
