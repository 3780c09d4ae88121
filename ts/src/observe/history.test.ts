import { describe, expect, test } from 'vitest'
import { Counters, latencyBounds } from './counters.ts'
import { countOf, countsBetween, errorsOf, History, latencyMs, type Sample, takeSample } from './history.ts'

const sample = (atMs: number, head = 0): Sample => ({ atMs, head, methods: new Map(), refusals: new Map() })
const classes = (...counts: [number, number][]) => {
  const all = new Array<number>(latencyBounds.length + 1).fill(0)
  for (const [place, count] of counts) all[place] = count
  return all
}

describe('History', () => {
  test('behavior: finds the sample of that time, else the oldest', () => {
    const history = new History()
    expect(history.before(100, 10)).toBeUndefined()
    for (const atMs of [0, 5000, 10_000]) history.add(sample(atMs))
    expect(history.before(12_000, 5000)?.atMs).toBe(5000)
    expect(history.before(15_000, 5000)?.atMs).toBe(10_000)
    expect(history.before(12_000, 60_000)?.atMs).toBe(0)
  })

  test('behavior: drops samples older than five minutes', () => {
    const history = new History()
    for (let turn = 0; turn < 100; turn++) history.add(sample(turn * 5000, turn))
    expect(history.before(99 * 5000, 1e9)?.atMs).toBe(39 * 5000)
    expect(history.steps((from, to) => (to.head ?? 0) - (from.head ?? 0))).toEqual(new Array(60).fill(1))
  })
})

describe('takeSample', () => {
  test('behavior: adds up what the workers counted', () => {
    const workers = [new Counters(['a', 'b']), new Counters(['a', 'b'])] as const
    workers[0].count('a', 0.05, undefined)
    workers[1].count('a', 3, -32000)
    workers[1].count('b', 1, -32000)
    const { methods } = takeSample(workers, 7, 1)
    expect(countOf(methods.get('a'))).toBe(2)
    expect(countOf(methods.get('none'))).toBe(0)
    expect(errorsOf({ atMs: 1, head: 7, methods, refusals: new Map() })).toEqual(new Map([[-32000, 2]]))
    const later = takeSample(workers, 7, 2).methods.get('a')
    expect(countsBetween(methods.get('a'), later).every((count) => count === 0)).toBe(true)
    expect(countsBetween(undefined, later)).toEqual(later?.counts)
  })
})

describe('latencyMs', () => {
  test('behavior: none, and within a class', () => {
    expect(latencyMs([], 0.5)).toBeNull()
    expect(latencyMs(classes(), 0.99)).toBeNull()
    // All latencies between 0.25 and 0.5 ms: the median is interpolated to the middle of the class.
    expect(latencyMs(classes([2, 100]), 0.5)).toBeCloseTo(0.375)
    expect(latencyMs(classes([0, 100]), 0.5)).toBeCloseTo(0.05)
  })

  test('behavior: p99 of 100 requests ignores the slowest', () => {
    const counts = classes([0, 99], [12, 1])
    expect(latencyMs(counts, 0.5)).toBeLessThan(0.1)
    expect(latencyMs(counts, 0.99)).toBeCloseTo(0.1)
    expect(latencyMs(counts, 0.999)).toBeGreaterThan(500)
  })

  test('behavior: beyond the last bound, returns the bound', () => {
    expect(latencyMs(classes([latencyBounds.length, 5]), 0.5)).toBe(10_000)
  })
})
