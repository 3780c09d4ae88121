import { expect, test, vi } from 'vitest'
import { Counters } from './counters.ts'
import { watchLoopDelay } from './loopDelay.ts'

test('behavior: a wait for a processor counts as delay, not as work', async () => {
  const counters = new Counters([])
  let cpuMs = 0
  watchLoopDelay(counters, () => cpuMs)
  const block = (workMs: number): void => {
    cpuMs += workMs
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
  }
  setTimeout(block, 100, 22)
  await vi.waitFor(() => expect(counters.gauge('loopDelayMaximum')).toBeGreaterThan(0.05), { timeout: 5000 })
  expect(counters.gauge('loopWorkMaximum')).toBeCloseTo(0.02)
  // Each figure covers one second.
  await vi.waitFor(() => expect(counters.gauge('loopWorkMaximum')).toBe(0), { timeout: 5000 })
})
