import { expect, test } from 'vitest'
import { headHeaders, leastHeadOf } from './headGate.ts'

test('behavior: the least head is a decimal number', () => {
  expect(leastHeadOf('')).toBeUndefined()
  expect(leastHeadOf('0')).toBe(0)
  expect(leastHeadOf('12')).toBe(12)
  for (const text of ['-1', '0x1', '1.5', ' 1', '1'.repeat(16)]) expect(leastHeadOf(text)).toBeNaN()
})

test('behavior: web pages may read the head', () => {
  expect(headHeaders('1 0xab', false)).toEqual([['X-Rhizome-Head', '1 0xab']])
  expect(headHeaders('1 0xab', true)).toContainEqual(['Access-Control-Expose-Headers', 'X-Rhizome-Head'])
  expect(headHeaders('', true)).toEqual([])
})
