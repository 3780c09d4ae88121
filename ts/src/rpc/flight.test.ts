import { expect, test } from 'vitest'
import { Flight } from './flight.ts'

test('behavior: the time left shrinks, then it is an error', () => {
  let now = 100
  const flight = new Flight(
    50,
    () => undefined,
    () => now,
  )
  expect(flight.remainingMs()).toBe(50)
  now = 149
  expect(flight.remainingMs()).toBe(1)
  now = 150
  expect(() => flight.remainingMs()).toThrow('Execution has got timeout out.')
})

test('behavior: 0 is no limit', () => {
  expect(new Flight(0, () => undefined).remainingMs()).toBe(0)
})

test('behavior: a client that hangs up cancels what runs, not what has ended', async () => {
  const cancelled: number[] = []
  const flight = new Flight(0, (ticket) => cancelled.push(ticket))
  let ended = 0
  await flight.run(async (_deadline, ticket) => {
    ended = ticket
  })
  const running = flight.run(
    (_deadline, ticket) => new Promise<number>((resolve) => setTimeout(() => resolve(ticket), 5)),
  )
  flight.abort()
  const ticket = await running
  expect(cancelled).toEqual([ticket])
  expect(ticket).not.toBe(ended)
  expect(flight.isAborted).toBe(true)
})

test('behavior: what is answered at once is no promise, until that has held up the thread for long', () => {
  let now = 0
  const flight = new Flight(
    0,
    () => undefined,
    () => now,
  )
  const execute = (ms: number) => (_deadline: number, _ticket: number, mayBeBrief: boolean) => {
    now += ms
    return mayBeBrief
  }
  expect(flight.run(execute(0.5))).toBe(true)
  // Time that passes between executions does not count.
  now += 100
  expect(flight.within(1000).run(execute(0.6))).toBe(true)
  expect(flight.run(execute(0))).toBe(false)
  expect(flight.within(1000).run(execute(0))).toBe(false)
})

test('behavior: a method may have less time than its request, never more, and is cancelled with it', async () => {
  let now = 0
  const cancelled: number[] = []
  const flight = new Flight(
    50,
    (ticket) => cancelled.push(ticket),
    () => now,
  )
  expect(flight.within(20).remainingMs()).toBe(20)
  expect(flight.within(80).remainingMs()).toBe(50)
  const running = flight.within(20).run((deadlineMs, ticket) => Promise.resolve([deadlineMs, ticket] as const))
  flight.abort()
  const [deadlineMs, ticket] = await running
  expect([deadlineMs, cancelled]).toEqual([20, [ticket]])
  now = 60
  expect(() => flight.within(20)).toThrow('Execution has got timeout out.')
})
