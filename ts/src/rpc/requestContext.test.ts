import { expect, test } from 'vitest'
import { RequestContext } from './requestContext.ts'

test('behavior: the remaining time decreases, then it is an error', () => {
  let now = 100
  const request = new RequestContext(
    50,
    () => undefined,
    () => now,
  )
  expect(request.remainingMs()).toBe(50)
  now = 149
  expect(request.remainingMs()).toBe(1)
  now = 150
  expect(() => request.remainingMs()).toThrow('Execution has got timeout out.')
})

test('behavior: 0 is no limit', () => {
  expect(new RequestContext(0, () => undefined).remainingMs()).toBe(0)
})

test('behavior: abort cancels running executions, not finished ones', async () => {
  const cancelled: number[] = []
  const request = new RequestContext(0, (token) => cancelled.push(token))
  let ended = 0
  await request.run(async (_deadline, token) => {
    ended = token
  })
  const running = request.run(
    (_deadline, token) => new Promise<number>((resolve) => setTimeout(() => resolve(token), 5)),
  )
  request.abort()
  const token = await running
  expect(cancelled).toEqual([token])
  expect(token).not.toBe(ended)
  expect(request.isAborted).toBe(true)
})

test('behavior: executions may run inline until they have used their time', () => {
  let now = 0
  const request = new RequestContext(
    0,
    () => undefined,
    () => now,
  )
  const execute = (ms: number) => (_deadline: number, _token: number, mayRunInline: boolean) => {
    now += ms
    return mayRunInline
  }
  expect(request.run(execute(0.5))).toBe(true)
  // Time that passes between executions does not count.
  now += 100
  expect(request.within(1000).run(execute(0.6))).toBe(true)
  expect(request.run(execute(0))).toBe(false)
  expect(request.within(1000).run(execute(0))).toBe(false)
})

test('behavior: a method has at most the time of its request, and is cancelled with it', async () => {
  let now = 0
  const cancelled: number[] = []
  const request = new RequestContext(
    50,
    (token) => cancelled.push(token),
    () => now,
  )
  expect(request.within(20).remainingMs()).toBe(20)
  expect(request.within(80).remainingMs()).toBe(50)
  const running = request.within(20).run((deadlineMs, token) => Promise.resolve([deadlineMs, token] as const))
  request.abort()
  const [deadlineMs, token] = await running
  expect([deadlineMs, cancelled]).toEqual([20, [token]])
  now = 60
  expect(() => request.within(20)).toThrow('Execution has got timeout out.')
})
