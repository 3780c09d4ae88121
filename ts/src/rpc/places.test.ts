import { expect, test } from 'vitest'
import { Places } from './places.ts'

test('behavior: one client takes at most half of the places', () => {
  const places = new Places(5)
  const take = (client: string, times: number) => Array.from({ length: times }, () => places.take(client))
  expect(take('a', 4)).toEqual([true, true, true, false])
  expect(take('b', 3)).toEqual([true, true, false])
  expect(places.isFull).toBe(true)
  places.free('a')
  expect([places.isFull, places.take('c'), places.take('a')]).toEqual([false, true, false])
})

test('behavior: a single place is for any client', () => {
  const places = new Places(1)
  expect([places.take('a'), places.take('b')]).toEqual([true, false])
  places.free('a')
  expect(places.take('b')).toBe(true)
})
