import { expect, test } from 'vitest'
import { headGate } from './headGate.ts'
import { HeadChanges } from './native/headChanges.ts'

function gate() {
  let number = 5
  let isOpen = true
  let listener: () => void = () => undefined
  const native = {
    latestBlock: (known: number, start: number) => {
      if (!isOpen) throw new Error('no node is open')
      return known === number && start === 0xab1234567890 ? null : `${number} 0xab1234567890cd`
    },
    onHead: (callback: () => void) => {
      listener = callback
    },
  }
  return {
    ...headGate(native, new HeadChanges(native)),
    move: (to: number) => {
      number = to
      listener()
    },
    close: () => {
      isOpen = false
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
