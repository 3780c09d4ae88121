import { latencyMs } from '../../observe/history.ts'

// Requests of the node, or of one app, by method and time: a bounded list of points for each range and method.

/** Ranges: seconds of a point, and limit of points. */
export const ranges = {
  hour: { stepSeconds: 60, points: 60 },
  day: { stepSeconds: 900, points: 96 },
  month: { stepSeconds: 21_600, points: 124 },
} as const
export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

/** Limit of methods with separate points; requests of further methods count as `other`. */
const maxMethods = 64
export const otherMethods = 'other'

/** Counts of a method since the previous call. */
export interface Counted {
  readonly requests: number
  readonly errors: number
  /** Requests by latency class, see `latencyBounds`; absent if latencies are not counted. */
  readonly classes?: readonly number[]
}

/** Number of the step since 1970, requests, errors, median and 99th percentile of the latency in milliseconds. */
export type Point = [step: number, requests: number, errors: number, p50Ms: number | null, p99Ms: number | null]

/** Points in order of time, without steps that have no request. `classes` are the latency classes of the last point. */
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

  /** Adds counts of a method at `nowSeconds` since 1970. */
  add(nowSeconds: number, method: string, counted: Counted): void {
    for (const range of rangeNames) this.#addTo(range, nowSeconds, method, counted)
  }

  /** Returns the curves of a range that ends now, without methods that have no request, most requests first. */
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
    const method = Object.hasOwn(methods, name) || Object.keys(methods).length < maxMethods ? name : otherMethods
    methods[method] ??= { points: [], classes: [] }
    const curve = methods[method]
    const now = Math.floor(nowSeconds / stepSeconds)
    let last = curve.points.at(-1)
    // After the clock was set back, counts go to the last point, so that points stay in order.
    if (last === undefined || last[0] < now) {
      last = [now, 0, 0, null, null]
      curve.points.push(last)
      curve.classes = []
      this.#forget(range, now - length)
    }
    last[1] += requests
    last[2] += errors
    if (classes === undefined) return
    curve.classes = classes.map((count, index) => count + (curve.classes[index] ?? 0))
    last[3] = rounded(latencyMs(curve.classes, 0.5))
    last[4] = rounded(latencyMs(curve.classes, 0.99))
  }

  /** Removes the points of a range up to a step, and methods without points. */
  #forget(range: RangeName, upTo: number): void {
    const methods = this.#record[range]
    for (const [method, curve] of Object.entries(methods)) {
      curve.points = curve.points.filter(([step]) => step > upTo)
      if (curve.points.length === 0) delete methods[method]
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
