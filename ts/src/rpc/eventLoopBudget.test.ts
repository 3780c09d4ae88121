import { expect, test } from 'vitest'
import { EventLoopBudget } from './eventLoopBudget.ts'

/** Budget whose clock advances with the work. */
function clocked() {
  let now = 0
  const eventLoopBudget = new EventLoopBudget(() => now)
  const log: string[] = []
  const work = (name: string, ms: number) => () => {
    now += ms
    log.push(name)
    return name
  }
  return { eventLoopBudget, log, work }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('behavior: work runs at once until the budget is spent', async () => {
  const { eventLoopBudget, work } = clocked()
  expect(eventLoopBudget.run('light', work('a', 1))).toBe('a')
  eventLoopBudget.spend(1)
  expect([eventLoopBudget.isSpent, eventLoopBudget.run('heavy', work('b', 1))]).toEqual([false, 'b'])
  const waiting = eventLoopBudget.run('heavy', work('c', 1))
  expect([eventLoopBudget.isSpent, waiting instanceof Promise]).toEqual([true, true])
  expect(eventLoopBudget.run('light', work('d', 1))).toBe('d')
  eventLoopBudget.spend(4)
  expect(eventLoopBudget.run('light', work('e', 1))).toBeInstanceOf(Promise)
  expect(await waiting).toBe('c')
  await nextTurn()
  expect(eventLoopBudget.isSpent).toBe(false)
})

test('behavior: a turn that is spent runs one piece of each size, the next turn light work first', async () => {
  const { eventLoopBudget, log, work } = clocked()
  eventLoopBudget.spend(9)
  const all = ['h1', 'h2', 'h3'].map((name) => eventLoopBudget.run('heavy', work(name, 3)))
  all.push(...['l1', 'l2', 'l3', 'l4'].map((name) => eventLoopBudget.run('light', work(name, 1))))
  await nextTurn()
  await nextTurn()
  await nextTurn()
  await Promise.all(all)
  expect(log).toEqual(['l1', 'h1', 'l2', 'l3', 'h2', 'l4', 'h3'])
})

test('behavior: answers and heavy work take turns', async () => {
  const { eventLoopBudget, log, work } = clocked()
  const all = (['heavy', 'answers'] as const).flatMap((size) =>
    ['1', '2', '3'].map((name) => eventLoopBudget.later(size, work(`${size} ${name}`, 1))),
  )
  await Promise.all(all)
  expect(log).toEqual(['answers 1', 'heavy 1', 'answers 2', 'heavy 2', 'answers 3', 'heavy 3'])
})

test('behavior: the time of heavy work is charged, with what it charges itself', async () => {
  const { eventLoopBudget, work } = clocked()
  eventLoopBudget.run('heavy', () => {
    work('a', 1)()
    eventLoopBudget.spend(1)
  })
  expect(eventLoopBudget.run('heavy', work('b', 1))).toBe('b')
  expect(eventLoopBudget.run('heavy', work('c', 1))).toBeInstanceOf(Promise)
})

test('behavior: reactions to finished work run before the next work', async () => {
  const { eventLoopBudget, log, work } = clocked()
  const first = eventLoopBudget.later('heavy', work('work 1', 1)).then(() => log.push('answer 1'))
  await Promise.all([first, eventLoopBudget.later('heavy', work('work 2', 1)).then(() => log.push('answer 2'))])
  expect(log).toEqual(['work 1', 'answer 1', 'work 2', 'answer 2'])
})

test('error: a failure rejects its promise, the next work runs', async () => {
  const { eventLoopBudget, work } = clocked()
  const failing = eventLoopBudget.later('heavy', () => {
    throw new Error('no')
  })
  const next = eventLoopBudget.later('heavy', work('next', 1))
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
})
