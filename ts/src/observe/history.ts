import { type Counters, latencyBounds, type MethodFigures } from './counters.ts'

/** Interval and number of samples: five minutes. */
export const sampleMs = 5000
const keptSamples = 60

/** All counts at one time. */
export interface Sample {
  readonly atMs: number
  /** Number of the head; undefined while the chain was not open. */
  readonly head: number | undefined
  readonly methods: ReadonlyMap<string, MethodFigures>
  /** Refusals by HTTP status; 0 stands for all statuses without a separate counter. */
  readonly refusals: ReadonlyMap<number, number>
}

/** Samples of the last five minutes, oldest first, for computing rates. */
export class History {
  readonly #samples: Sample[] = []

  add(sample: Sample): void {
    this.#samples.push(sample)
    if (this.#samples.length > keptSamples + 1) this.#samples.shift()
  }

  /** Returns the most recent sample that is at least `ms` older than `nowMs`, else the oldest sample. */
  before(nowMs: number, ms: number): Sample | undefined {
    return this.#samples.findLast(({ atMs }) => atMs <= nowMs - ms) ?? this.#samples[0]
  }

  /** Returns `difference` of each two consecutive samples, for a curve. */
  steps(difference: (from: Sample, to: Sample) => number): number[] {
    return this.#samples.slice(1).map((to, index) => difference(this.#samples[index] as Sample, to))
  }
}

/** Takes a sample. `nowMs` must come from a monotonic clock. */
export function takeSample(workers: readonly Counters[], head: number | undefined, nowMs: number): Sample {
  const methods = new Map<string, MethodFigures>()
  const refusals = new Map<number, number>()
  for (const worker of workers) {
    for (const figures of worker.methods()) {
      methods.set(figures.method, sum(methods.get(figures.method), figures))
    }
    for (const { status, count } of worker.refusals()) refusals.set(status, (refusals.get(status) ?? 0) + count)
  }
  return { atMs: nowMs, head, methods, refusals }
}

/** Returns the number of requests of a method. */
export function countOf(figures: MethodFigures | undefined): number {
  return figures?.counts.reduce((total, count) => total + count, 0) ?? 0
}

/** Returns the number of errors in a sample by code. */
export function errorsOf(sample: Sample): Map<number, number> {
  const errors = new Map<number, number>()
  for (const figures of sample.methods.values()) {
    for (const { code, count } of figures.errors) errors.set(code, (errors.get(code) ?? 0) + count)
  }
  return errors
}

/** Returns the requests of each latency class between two samples. */
export function countsBetween(from: MethodFigures | undefined, to: MethodFigures | undefined): number[] {
  return (to?.counts ?? []).map((count, index) => count - (from?.counts[index] ?? 0))
}

/**
 * Returns a quantile of latencies in milliseconds, interpolated within its class; null without requests. Beyond the last
 * bound it returns that bound.
 */
export function latencyMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = total * share
  for (const [index, count] of counts.entries()) {
    const upper = latencyBounds[index]
    if (upper === undefined) break
    if (left <= count) {
      const lower = latencyBounds[index - 1] ?? 0
      return 1000 * (lower + ((upper - lower) * left) / Math.max(count, 1))
    }
    left -= count
  }
  return 1000 * (latencyBounds.at(-1) ?? 0)
}

function sum(one: MethodFigures | undefined, other: MethodFigures): MethodFigures {
  if (one === undefined) return other
  const errors = new Map(one.errors.map(({ code, count }) => [code, count]))
  for (const { code, count } of other.errors) errors.set(code, (errors.get(code) ?? 0) + count)
  return {
    method: one.method,
    counts: one.counts.map((count, index) => count + (other.counts[index] ?? 0)),
    seconds: one.seconds + other.seconds,
    errors: [...errors].map(([code, count]) => ({ code, count })),
  }
}
