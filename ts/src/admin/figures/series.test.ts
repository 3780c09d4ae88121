import { describe, expect, test } from 'vitest'
import { latencyBounds } from '../../observe/counters.ts'
import { ranges, Series } from './series.ts'

const minute = 60
const at = 20_000 * ranges.month.stepSeconds
const classes = (place: number, count: number) =>
  Array.from({ length: latencyBounds.length + 1 }, (_none, index) => (index === place ? count : 0))

describe('Series', () => {
  test('behavior: each range has a value for each step, the latest last', () => {
    const series = new Series()
    series.add(at, 'a', { requests: 2, errors: 1 })
    series.add(at + 2 * minute, 'a', { requests: 3, errors: 0 })
    series.add(at + 2 * minute, 'b', { requests: 9, errors: 0 })
    const [first, second] = series.curves('hour', at + 3 * minute)
    expect(first).toMatchObject({ method: 'b' })
    expect(second?.requests).toHaveLength(60)
    expect(second?.requests.slice(-5)).toEqual([0, 2, 0, 3, 0])
    expect(second?.errors.slice(-5)).toEqual([0, 1, 0, 0, 0])
    expect(series.curves('day', at + 3 * minute)[1]?.requests.at(-1)).toBe(5)
    expect(series.curves('month', at + 3 * minute)[1]?.requests).toHaveLength(124)
  })

  test('behavior: percentiles are of all requests of a step', () => {
    const series = new Series()
    series.add(at, 'a', { requests: 99, errors: 0, classes: classes(0, 99) })
    series.add(at + 1, 'a', { requests: 99, errors: 0, classes: classes(9, 99) })
    const [curve] = series.curves('hour', at)
    expect(curve?.p50Ms.at(-1)).toBeLessThanOrEqual(0.1)
    expect(curve?.p99Ms.at(-1)).toBeGreaterThan(50)
    expect(curve?.p50Ms.at(-2)).toBeNull()
  })

  test('behavior: old steps are forgotten, and methods without any', () => {
    const series = new Series()
    for (let step = 0; step < 500; step++) series.add(at + step * minute, 'a', { requests: 1, errors: 0 })
    expect(series.record.hour.a?.points).toHaveLength(60)
    series.add(at + 2000 * minute, 'b', { requests: 1, errors: 0 })
    expect(Object.keys(series.record.hour)).toEqual(['b'])
    expect(Object.keys(series.record.month)).toEqual(['a', 'b'])
    expect(series.curves('hour', at + 3000 * minute)).toEqual([])
  })

  test('behavior: a clock that is set back counts into the latest step', () => {
    const series = new Series()
    series.add(at + 10 * minute, 'a', { requests: 1, errors: 0 })
    series.add(at, 'a', { requests: 1, errors: 0 })
    expect(series.record.hour.a?.points.map(([, requests]) => requests)).toEqual([2])
  })

  test('behavior: the number of methods is bounded', () => {
    const series = new Series()
    for (let index = 0; index < 200; index++) series.add(at, `m${index}`, { requests: 1, errors: 0 })
    expect(Object.keys(series.record.hour)).toHaveLength(65)
    expect(series.curves('hour', at)[0]).toMatchObject({ method: 'other' })
  })
})
