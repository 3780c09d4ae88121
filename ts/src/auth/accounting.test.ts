import { describe, expect, test } from 'vitest'
import { Accounting, burstOf } from './accounting.ts'
import { createApp } from './app.ts'
import { MemoryRates } from './bucket.ts'
import { Meter, type MeterLimits } from './meter.ts'
import { noPolicy } from './policy.ts'
import type { AppUsage, UsageStore } from './store.ts'

const nothing = () => undefined
const day: MeterLimits = { burst: null, hasDay: true, hasMonth: false }

function app(name: string, limits: Partial<typeof noPolicy.limits>) {
  const given = { name, description: '', useCase: '', network: 'regtest', expiresAt: null, limits }
  const [made] = createApp([], given, 1).apps
  if (made === undefined) throw new Error('no app')
  return made
}

/** A store shared by nodes: the units of the day are the sum of all nodes. */
class Shared implements UsageStore {
  readonly told: AppUsage[] = []
  isAway = false

  async add(counted: readonly AppUsage[]) {
    if (this.isAway) throw new Error('away')
    this.told.push(...counted.filter(({ requests }) => requests > 0))
    return counted.map(({ app: name }) => {
      const mine = this.told.filter((one) => one.app === name).reduce((sum, { units }) => sum + units, 0)
      return { day: mine, month: mine }
    })
  }

  report() {
    return Promise.resolve([])
  }
}

describe('Accounting', () => {
  test('behavior: two nodes spend one quota', async () => {
    const usage = new Shared()
    const nodes = [0, 1].map(() => new Accounting({ usage, rates: new MemoryRates() }, nothing))
    const apps = [app('a', { dailyUnits: 10 })]
    const meters = await Promise.all(
      nodes.map(async (node) => new Meter(node.memory, (await node.open(apps))[0] as number)),
    )
    const [first, second] = meters as [Meter, Meter]
    expect([first.pay(1, 6, day), second.pay(1, 3, day)]).toEqual([undefined, undefined])
    for (const node of [...nodes, ...nodes]) await node.open(apps)
    expect([first.left('day'), second.left('day')]).toEqual([1, 1])
    expect([first.pay(1, 2, day), second.pay(1, 1, day)]).toEqual(['day', undefined])
  })

  test('behavior: counts are reported later, once, after a failure that is reported once', async () => {
    const usage = new Shared()
    const problems: string[] = []
    const node = new Accounting({ usage, rates: new MemoryRates() }, ({ message }) => problems.push(message))
    const apps = [app('a', {})]
    const meter = new Meter(node.memory, (await node.open(apps))[0] as number)
    meter.count(2, 20)
    usage.isAway = true
    await node.open(apps)
    meter.count(1, 5)
    meter.countError()
    await node.open(apps)
    expect([problems, usage.told]).toEqual([['away'], []])
    usage.isAway = false
    await node.stop()
    await node.stop()
    expect(usage.told).toEqual([{ app: 'a', requests: 3, units: 25, errors: 1, refused: 0 }])
    expect(node.totals()).toEqual([{ app: 'a', requests: 3, units: 25, errors: 1, refused: 0 }])
  })

  test('behavior: counters may wrap around', async () => {
    const usage = new Shared()
    const node = new Accounting({ usage, rates: new MemoryRates() }, nothing)
    const apps = [app('a', { dailyUnits: 2 ** 33 })]
    const meter = new Meter(node.memory, (await node.open(apps))[0] as number)
    for (let times = 1; times <= 7; times++) {
      expect(meter.pay(1, 2 ** 30, day)).toBeUndefined()
      await node.open(apps)
    }
    expect(meter.pay(1, 2 ** 30 - 1, day)).toBeUndefined()
    await node.open(apps)
    expect([meter.pay(1, 2, day), meter.pay(1, 1, day), meter.pay(1, 1, day)]).toEqual(['day', undefined, 'day'])
    expect(node.totals()[0]?.units).toBe(2 ** 33)
  })

  test('behavior: a price above the burst passes with a full bucket and is made up for', async () => {
    const node = new Accounting({ usage: new Shared(), rates: new MemoryRates() }, nothing)
    const apps = [app('a', { unitsPerSecond: 10, burst: 20 })]
    const meter = new Meter(node.memory, (await node.open(apps))[0] as number)
    const rate = { burst: 20, hasDay: false, hasMonth: false }
    expect([meter.pay(1, 500, rate), meter.pay(1, 1, rate)]).toEqual([undefined, 'rate'])
    await node.open(apps)
    expect(meter.left('rate')).toBeLessThan(-450)
  })

  test.each([1, 20, 200])('behavior: at %s units a second no more than the burst passes at once', async (perSecond) => {
    const node = new Accounting({ usage: new Shared(), rates: new MemoryRates() }, nothing)
    const apps = [app('a', { unitsPerSecond: perSecond, burst: 20 })]
    const meter = new Meter(node.memory, (await node.open(apps))[0] as number)
    const rate = { burst: 20, hasDay: false, hasMonth: false }
    const pass = (most: number): number => {
      let passed = 0
      while (passed < most && meter.pay(1, 1, rate) === undefined) passed++
      return passed
    }
    node.start()
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    // Spent in part, filled again and idle: no unit may be available twice.
    expect(pass(5)).toBe(5)
    await wait(300)
    const beganMs = performance.now()
    let passed = pass(1000)
    expect(passed).toBeLessThanOrEqual(20)
    for (let times = 0; times < 20; times++) {
      await wait(20)
      passed += pass(1000)
      // Two clocks: a difference of 10 ms is rounding.
      expect(passed).toBeLessThanOrEqual(20 + ((performance.now() + 10 - beganMs) / 1000) * perSecond)
    }
    await node.stop()
  })

  test('behavior: units spent before there was a rate do not count', async () => {
    const node = new Accounting({ usage: new Shared(), rates: new MemoryRates() }, nothing)
    const meter = new Meter(node.memory, (await node.open([app('a', {})]))[0] as number)
    meter.count(1000, 1_000_000)
    await node.open([app('a', { unitsPerSecond: 10, burst: 20 })])
    expect(meter.left('rate')).toBe(20)
  })

  test('behavior: apps keep their places, and others get other ones', async () => {
    const node = new Accounting({ usage: new Shared(), rates: new MemoryRates() }, nothing)
    const [a, b, c] = ['a', 'b', 'c'].map((name) => app(name, {})) as [never, never, never]
    expect([await node.open([a, b]), await node.open([c, b]), await node.open([a])]).toEqual([[0, 1], [2, 1], [0]])
  })
})

test('behavior: a burst is never less than the units of two rounds', () => {
  const limits = noPolicy.limits
  expect(burstOf(limits)).toBeNull()
  expect(burstOf({ ...limits, unitsPerSecond: 100 })).toBe(50)
  expect(burstOf({ ...limits, unitsPerSecond: 100, burst: 1 })).toBe(10)
  expect(burstOf({ ...limits, unitsPerSecond: 1 })).toBe(1)
  expect(burstOf({ ...limits, unitsPerSecond: 1, burst: 100 })).toBe(100)
})

test('behavior: no more than the limit are in at a time', () => {
  const meter = new Meter(new SharedArrayBuffer(64), 0)
  expect([meter.enter(2), meter.enter(2), meter.enter(2)]).toEqual([true, true, false])
  meter.leave()
  expect([meter.enter(2), meter.enter(2)]).toEqual([true, false])
})
