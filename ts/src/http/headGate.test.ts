import { expect, test } from 'vitest'
import { HeadHeaders, leastHeadOf } from './headGate.ts'

test('behavior: the least head is a decimal number', () => {
  expect(leastHeadOf('')).toBeUndefined()
  expect(leastHeadOf('0')).toBe(0)
  expect(leastHeadOf('12')).toBe(12)
  for (const text of ['-1', '0x1', '1.5', ' 1', '1'.repeat(16)]) expect(leastHeadOf(text)).toBeNaN()
})

test('behavior: web pages may read the head', () => {
  const { plain, exposed } = new HeadHeaders('1 0xab')
  expect(plain).toEqual([['X-Rhizome-Head', '1 0xab']])
  expect(exposed).toEqual([...plain, ['Access-Control-Expose-Headers', 'X-Rhizome-Head']])
  expect(new HeadHeaders('')).toEqual({ plain: [], exposed: [] })
})
