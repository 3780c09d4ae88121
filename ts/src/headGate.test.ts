import { expect, test } from 'vitest'
import { headGate } from './headGate.ts'
import { HeadChanges } from './native/headChanges.ts'

function gate(follows: 'own' | 'agreed' = 'own') {
  const changes = new Uint32Array(1)
  let looks = 0
  let number = 5
  let isOpen = true
  let listener: () => void = () => undefined
  const native = {
    headChangeCount: () => changes,
    latestBlock: (known: number, start: number) => {
      looks++
      if (!isOpen) throw new Error('no node is open')
      return known === number && start === 0xab1234567890 ? null : `${number} 0xab1234567890cd`
    },
    onHead: (callback: () => void) => {
      listener = callback
    },
  }
  return {
    ...headGate(native, new HeadChanges(native), follows),
    looks: () => looks,
    move: (to: number) => {
      number = to
      Atomics.add(changes, 0, 1)
      listener()
    },
    close: () => {
      isOpen = false
      Atomics.add(changes, 0, 1)
    },
  }
}

test('behavior: a head that is there, that arrives, and that does not', async () => {
  const one = gate()
  const [first, second] = [one.headers(false), one.headers(false)]
  expect(first).toEqual([['X-Rhizome-Head', '5 0xab1234567890cd']])
  expect(second).toBe(first)
  expect(one.headers(true)).toHaveLength(2)
  expect(await one.reach(5, 0)).toBe(true)
  expect(await one.reach(6, 0)).toBe(false)
  const waiting = one.reach(7, 60_000)
  one.move(6)
  one.move(7)
  expect(await waiting).toBe(true)
})

test('behavior: a closed node keeps no request waiting', async () => {
  const one = gate()
  one.close()
  expect(one.headers(true)).toEqual([])
  expect(await one.reach(9, 60_000)).toBe(true)
})

test('behavior: the node is asked again behind a change of the head only', () => {
  const one = gate()
  one.headers(false)
  one.headers(true)
  expect(one.looks()).toBe(1)
  one.move(6)
  expect(one.headers(false)).toEqual([['X-Rhizome-Head', '6 0xab1234567890cd']])
  one.close()
  expect(one.headers(false)).toEqual([])
  expect(one.headers(false)).toEqual([])
  expect(one.looks()).toBe(4)
})

test('behavior: the agreed block is read for each answer', () => {
  const one = gate('agreed')
  one.headers(false)
  one.headers(false)
  expect(one.looks()).toBe(2)
})
