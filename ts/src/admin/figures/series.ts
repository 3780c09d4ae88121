import { latencyMs } from '../../observe/history.ts'

// Requests of the node, or of one app, by method and time: for each range a bounded list of points for each method.

/** What can be shown: how many seconds a point covers, and how many points there are at most. */
export const ranges = {
  hour: { stepSeconds: 60, points: 60 },
  day: { stepSeconds: 900, points: 96 },
  month: { stepSeconds: 21_600, points: 124 },
} as const
export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

/** Methods that are kept apart; requests of all further ones count as `other`. */
const mostMethods = 64
export const otherMethods = 'other'

/** What was counted of a method since the last time. */
export interface Counted {
  readonly requests: number
  readonly errors: number
  /** Requests by latency class, see `latencyBounds`; absent where latencies are not counted. */
  readonly classes?: readonly number[]
}

/** Number of its step since 1970, requests, errors, median and 99th percentile of the latency in milliseconds. */
export type Point = [step: number, requests: number, errors: number, p50Ms: number | null, p99Ms: number | null]

/** Points in the order of time, steps without a request left out. `classes` are the latency classes of the last one. */
export interface MethodPoints {
  points: Point[]
  classes: number[]
}

/** The form in which a series is written to disk. */
export type SeriesRecord = { [range in RangeName]: { [method: string]: MethodPoints } }

/** One value for each step of a range, the latest last. */
export interface MethodCurve {
  readonly method: string
  readonly requests: readonly number[]
  readonly errors: readonly number[]
  readonly p50Ms: readonly (number | null)[]
  readonly p99Ms: readonly (number | null)[]
}

export class Series {
  readonly #record: SeriesRecord

  constructor(record: SeriesRecord = { hour: {}, day: {}, month: {} }) {
    this.#record = record
  }

  get record(): SeriesRecord {
    return this.#record
  }

  /** Adds what was counted of a method up to `nowSeconds` (since 1970). */
  add(nowSeconds: number, method: string, counted: Counted): void {
    for (const range of rangeNames) this.#addTo(range, nowSeconds, method, counted)
  }

  /** The curves of a range that ends now, methods with the most requests first; those without any are left out. */
  curves(range: RangeName, nowSeconds: number): MethodCurve[] {
    const { stepSeconds, points: length } = ranges[range]
    const first = Math.floor(nowSeconds / stepSeconds) - length + 1
    return Object.entries(this.#record[range])
      .map(([method, { points }]) => ({
        method,
        shown: points.filter(([step]) => step >= first && step < first + length),
      }))
      .filter(({ shown }) => shown.length > 0)
      .map(({ method, shown }) => curveOf(method, shown, first, length))
      .toSorted((one, other) => sum(other.requests) - sum(one.requests))
  }

  #addTo(range: RangeName, nowSeconds: number, name: string, { requests, errors, classes }: Counted): void {
    const { stepSeconds, points: length } = ranges[range]
    const methods = this.#record[range]
    const method = Object.hasOwn(methods, name) || Object.keys(methods).length < mostMethods ? name : otherMethods
    methods[method] ??= { points: [], classes: [] }
    const kept = methods[method]
    const now = Math.floor(nowSeconds / stepSeconds)
    let last = kept.points.at(-1)
    // A clock that was set back counts into the last point: points stay in order.
    if (last === undefined || last[0] < now) {
      last = [now, 0, 0, null, null]
      kept.points.push(last)
      kept.classes = []
      this.#forget(range, now - length)
    }
    last[1] += requests
    last[2] += errors
    if (classes === undefined) return
    kept.classes = classes.map((count, place) => count + (kept.classes[place] ?? 0))
    last[3] = rounded(latencyMs(kept.classes, 0.5))
    last[4] = rounded(latencyMs(kept.classes, 0.99))
  }

  /** Removes the points of a range up to a step, and methods that have none left. */
  #forget(range: RangeName, upTo: number): void {
    const methods = this.#record[range]
    for (const [method, kept] of Object.entries(methods)) {
      kept.points = kept.points.filter(([step]) => step > upTo)
      if (kept.points.length === 0) delete methods[method]
    }
  }
}

function curveOf(method: string, points: readonly Point[], first: number, length: number): MethodCurve {
  const byStep = new Map(points.map((point) => [point[0], point]))
  const steps = Array.from({ length }, (_none, index) => byStep.get(first + index))
  return {
    method,
    requests: steps.map((point) => point?.[1] ?? 0),
    errors: steps.map((point) => point?.[2] ?? 0),
    p50Ms: steps.map((point) => point?.[3] ?? null),
    p99Ms: steps.map((point) => point?.[4] ?? null),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(3))
}
