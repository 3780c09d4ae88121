import { expect, test } from 'vitest'
import { HeadChanges } from './headChanges.ts'

/** Returns changes of a head, and the function that moves it. */
function setUp() {
  let registrations = 0
  let move = (): void => undefined
  const heads = new HeadChanges({
    onHead(callback) {
      registrations++
      move = callback
    },
  })
  return { heads, move: () => move(), registrations: () => registrations }
}

test('behavior: one listener of the addon serves all', async () => {
  const { heads, move, registrations } = setUp()
  const told: string[] = []
  heads.add(() => told.push('a'))
  const waits = [heads.next(60_000), heads.next(60_000)]
  heads.add(() => told.push('b'))
  move()
  await Promise.all(waits)
  move()
  expect([told, registrations()]).toEqual([['a', 'b', 'a', 'b'], 1])
})

test('behavior: a wait ends with its time', async () => {
  const { heads, move } = setUp()
  await heads.next(1)
  move()
})
