import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Counters } from './counters.ts'

const everyMs = 1000
const resolutionMs = 2

/** Records the event-loop delay of this thread every second. Does not keep the thread alive. */
export function watchLoopDelay(counters: Counters): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  setInterval(() => {
    // Reset after each reading: the histogram covers one interval.
    counters.set('loopDelay99', seconds(delays.percentile(99)))
    counters.set('loopDelayMaximum', seconds(delays.max))
    delays.reset()
  }, everyMs).unref()
}

function seconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)
}
