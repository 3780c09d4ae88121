import { expect, test } from 'vitest'
import { Counters, latencyBounds } from './counters.ts'

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

test('behavior: counts by method, class of latency and error code, seen through the shared memory', () => {
  const counters = new Counters(['a', 'b'])
  counters.count('a', 0.1, undefined)
  counters.count('a', 0.11, -32602)
  counters.count('a', 60_000, -32602)
  counters.count('never heard of', 1, -32601)
  const seen = new Counters(['a', 'b'], counters.memory).methods()
  expect(seen.map(({ method }) => method)).toEqual(['a', 'other'])
  const [a, other] = seen
  expect(a?.counts.slice(0, 2)).toEqual([1, 1])
  expect(a?.counts[latencyBounds.length]).toBe(1)
  expect(total(a?.counts ?? [])).toBe(3)
  expect(a?.seconds).toBeCloseTo(60.00021)
  expect(a?.errors).toEqual([{ code: -32602, count: 2 }])
  expect(other?.errors).toEqual([{ code: -32601, count: 1 }])
})

test('behavior: more error codes than places are counted together', () => {
  const counters = new Counters(['a'])
  for (let code = 1; code <= 40; code++) counters.count('a', 1, -code)
  const errors = counters.methods()[0]?.errors ?? []
  expect(errors).toHaveLength(32)
  expect(errors.find(({ code }) => code === 0)).toEqual({ code: 0, count: 9 })
})

test('behavior: gauges are set and changed', () => {
  const counters = new Counters([])
  counters.change('httpConnections', 1)
  counters.change('httpConnections', 1)
  counters.change('httpConnections', -1)
  counters.set('subscriptions', 5)
  expect([counters.gauge('httpConnections'), counters.gauge('subscriptions')]).toEqual([1, 5])
})
