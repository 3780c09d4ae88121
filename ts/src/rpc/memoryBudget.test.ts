import { describe, expect, test } from 'vitest'
import { MemoryBudget, sharedCounters } from './memoryBudget.ts'

const mega = 1 << 20

describe('MemoryBudget', () => {
  test('behavior: all threads count against one limit', () => {
    const cells = sharedCounters(2)
    const [one, two] = [new MemoryBudget(cells, 0, 4 * mega), new MemoryBudget(cells, 1, 4 * mega)]
    const first = one.reserve('a', 3 * mega)
    expect(two.reserve('b', 2 * mega)).toBeUndefined()
    expect([one.bytes, two.bytes]).toEqual([3 * mega, 0])
    first?.release()
    expect(two.reserve('b', 2 * mega)).toBeDefined()
    expect([one.bytes, two.bytes]).toEqual([0, 2 * mega])
  })

  test('behavior: one client leaves room for others, but may always hold one reservation', () => {
    const budget = new MemoryBudget(sharedCounters(2), 0, 16 * mega)
    const whole = budget.reserve('a', 10 * mega)
    expect(whole).toBeDefined()
    expect(budget.reserve('a', mega)).toBeUndefined()
    expect(budget.reserve('b', mega)).toBeDefined()
    whole?.release()
    // The share of a client is half of the limit, divided by two threads.
    for (let index = 0; index < 4; index++) expect(budget.reserve('a', mega)).toBeDefined()
    expect(budget.reserve('a', mega)).toBeUndefined()
  })

  test('behavior: a reservation that cannot grow keeps its size', () => {
    const budget = new MemoryBudget(sharedCounters(1), 0, 2 * mega)
    const reservation = budget.open('a')
    expect(reservation.resize(mega)).toBe(true)
    expect(reservation.resize(3 * mega)).toBe(false)
    expect(budget.bytes).toBe(mega)
    expect(reservation.resize(2 * mega)).toBe(true)
    reservation.release()
    reservation.release()
    expect(budget.bytes).toBe(0)
  })

  test('behavior: allocated bytes are counted in any case', () => {
    const budget = new MemoryBudget(sharedCounters(1), 0, mega)
    const reservation = budget.open('a')
    expect(reservation.count(2 * mega)).toBe(false)
    expect(budget.bytes).toBe(2 * mega)
    expect(budget.reserve('b', 1)).toBeUndefined()
    expect(reservation.count(1)).toBe(true)
    reservation.release()
    expect(budget.bytes).toBe(0)
  })
})
