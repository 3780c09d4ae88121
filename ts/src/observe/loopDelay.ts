// The global `performance` is a getter, which costs more than this import.
import { createHistogram, performance } from 'node:perf_hooks'
import type { Counters } from './counters.ts'

const everyMs = 1000
const resolutionMs = 2

/**
 * Records every second how late the event loop of this thread was, and how much of that was work of this thread: on a busy
 * machine a thread also waits for a processor. `cpuMs` returns the processor time of the thread in ms. Does not keep the
 * thread alive.
 */
export function watchLoopDelay(counters: Counters, cpuMs: () => number): void {
  const delays = createHistogram()
  let workMs = 0
  let last = { nowMs: performance.now(), cpuMs: cpuMs() }
  setInterval(() => {
    const current = { nowMs: performance.now(), cpuMs: cpuMs() }
    delays.record(Math.max(1, Math.round(1e6 * (current.nowMs - last.nowMs - resolutionMs))))
    workMs = Math.max(workMs, current.cpuMs - last.cpuMs - resolutionMs)
    last = current
  }, resolutionMs).unref()
  setInterval(() => {
    // Reset after each reading: the figures cover one interval.
    counters.set('loopDelay99', delays.percentile(99) / 1e9)
    counters.set('loopDelayMaximum', delays.max / 1e9)
    counters.set('loopWorkMaximum', workMs / 1000)
    delays.reset()
    workMs = 0
  }, everyMs).unref()
}
