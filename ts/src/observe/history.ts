import { type Counters, latencyBounds, type MethodFigures } from './counters.ts'

/** How often a sample is taken, and how many are kept: five minutes. */
export const sampleMs = 5000
const keptSamples = 60

/** What was counted up to one moment. */
export interface Sample {
  readonly atMs: number
  /** Number of the head; undefined when no node was open. */
  readonly head: number | undefined
  readonly methods: ReadonlyMap<string, MethodFigures>
  /** Refusals by HTTP status; 0 stands for all statuses that are not told apart. */
  readonly refusals: ReadonlyMap<number, number>
}

/** Samples of the last minutes, the oldest first: what rates are made of. */
export class History {
  readonly #samples: Sample[] = []

  add(sample: Sample): void {
    this.#samples.push(sample)
    if (this.#samples.length > keptSamples + 1) this.#samples.shift()
  }

  /** The sample that is at least `ms` older than `nowMs`, or the oldest that there is. */
  before(nowMs: number, ms: number): Sample | undefined {
    return this.#samples.findLast(({ atMs }) => atMs <= nowMs - ms) ?? this.#samples[0]
  }

  /** What `difference` makes of each two neighbours, for a curve. */
  steps(difference: (from: Sample, to: Sample) => number): number[] {
    return this.#samples.slice(1).map((to, index) => difference(this.#samples[index] as Sample, to))
  }
}

/** Takes a sample. `nowMs` has to come from a clock that never goes back. */
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

/** How many requests of a method a sample knows. */
export function countOf(figures: MethodFigures | undefined): number {
  return figures?.counts.reduce((total, count) => total + count, 0) ?? 0
}

/** The answers with an error that a sample knows, by code. */
export function errorsOf(sample: Sample): Map<number, number> {
  const errors = new Map<number, number>()
  for (const figures of sample.methods.values()) {
    for (const { code, count } of figures.errors) errors.set(code, (errors.get(code) ?? 0) + count)
  }
  return errors
}

/** How many of each class of latency came between two samples. */
export function countsBetween(from: MethodFigures | undefined, to: MethodFigures | undefined): number[] {
  return (to?.counts ?? []).map((count, place) => count - (from?.counts[place] ?? 0))
}

/**
 * The latency in milliseconds that a share of requests stayed below, estimated within its class; null without any.
 * Of what is beyond the last bound, only that is known: then it is that bound.
 */
export function latencyMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = total * share
  for (const [place, count] of counts.entries()) {
    const upper = latencyBounds[place]
    if (upper === undefined) break
    if (left <= count) {
      const lower = latencyBounds[place - 1] ?? 0
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
    counts: one.counts.map((count, place) => count + (other.counts[place] ?? 0)),
    seconds: one.seconds + other.seconds,
    errors: [...errors].map(([code, count]) => ({ code, count })),
  }
}
