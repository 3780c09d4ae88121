import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

/** Turns whose clock is moved by the work. */
function clocked() {
  let now = 0
  const turns = new Turns(() => now)
  const log: string[] = []
  const work = (name: string, ms: number) => () => {
    now += ms
    log.push(name)
    return name
  }
  return { turns, log, work }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('behavior: work goes on at once until the turn has lasted too long', async () => {
  const { turns, work } = clocked()
  expect(turns.run('light', work('a', 1))).toBe('a')
  turns.spend(3)
  expect([turns.isOver, turns.run('heavy', work('b', 1))]).toEqual([false, 'b'])
  turns.spend(2)
  const waiting = turns.run('heavy', work('c', 1))
  expect([turns.isOver, waiting instanceof Promise]).toEqual([true, true])
  expect(turns.run('light', work('d', 1))).toBe('d')
  turns.spend(4)
  expect(turns.run('light', work('e', 1))).toBeInstanceOf(Promise)
  expect(await waiting).toBe('c')
  expect(turns.isOver).toBe(false)
})

test('behavior: the light goes first, and something heavy in each turn', async () => {
  const { turns, log, work } = clocked()
  turns.spend(9)
  const all = ['h1', 'h2', 'h3'].map((name) => turns.run('heavy', work(name, 3)))
  all.push(...['l1', 'l2', 'l3', 'l4'].map((name) => turns.run('light', work(name, 2))))
  await nextTurn()
  await nextTurn()
  await Promise.all(all)
  expect(log).toEqual(['l1', 'l2', 'h1', 'l3', 'l4', 'h2', 'h3'])
})

test('behavior: what waits for work that was done goes on before the next', async () => {
  const { turns, log, work } = clocked()
  const first = turns.later('heavy', work('work 1', 1)).then(() => log.push('answer 1'))
  await Promise.all([first, turns.later('heavy', work('work 2', 1)).then(() => log.push('answer 2'))])
  expect(log).toEqual(['work 1', 'answer 1', 'work 2', 'answer 2'])
})

test('error: work that fails is heard of, and the next is done', async () => {
  const { turns, work } = clocked()
  const failing = turns.later('heavy', () => {
    throw new Error('no')
  })
  const next = turns.later('heavy', work('next', 1))
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
})
