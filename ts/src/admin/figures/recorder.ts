import type { AppUse, MethodUse } from '../../observe/appUse.ts'
import { countOf, countsBetween, type Sample } from '../../observe/history.ts'
import type { FigureReport } from '../shapes.ts'
import type { FigureFiles, Subject } from './files.ts'
import { type RangeName, ranges, Series } from './series.ts'

/** Interval of writes: a crash loses the figures since the last write. */
const writeMs = 60_000

/** Number of apps with figures; beyond it, those of the least recently used app are dropped. */
export const maxApps = 1000

/** Name of the sum over all methods. Its percentiles cannot be computed from those of the methods. */
export const allMethods = 'all'

/** The figures of a subject. */
interface Recording {
  readonly subject: Subject
  readonly series: Promise<Series>
  isDirty: boolean
}

/** Figures over time of the node and of each app, written to files once a minute. Without files in memory only. */
export class FigureRecorder {
  readonly #files: FigureFiles | undefined
  readonly #onProblem: (error: Error) => void
  readonly #nowMs: () => number
  /** By name of the app, the node under the empty name; least recently used first. */
  readonly #recordings = new Map<string, Recording>()
  #before: Sample | undefined
  #work: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #problem = ''

  /** `nowMs`: milliseconds since 1970. */
  constructor(files: FigureFiles | undefined, onProblem: (error: Error) => void, nowMs: () => number) {
    this.#files = files
    this.#onProblem = onProblem
    this.#nowMs = nowMs
  }

  start(): void {
    this.#timer = setInterval(() => void this.save(), writeMs).unref()
  }

  /** Stops the timer and writes unwritten figures. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.save()
  }

  /** Adds the requests of the node since the previous sample. */
  take(sample: Sample): void {
    const before = this.#before
    this.#before = sample
    const counted = [...sample.methods].flatMap(([method, figures]) => {
      const earlier = before?.methods.get(method)
      const requests = countOf(figures) - countOf(earlier)
      if (requests === 0) return []
      const total = (errors = figures.errors) => errors.reduce((sum, { count }) => sum + count, 0)
      const errors = total() - (earlier === undefined ? 0 : total(earlier.errors))
      return [{ method, requests, errors, classes: countsBetween(earlier, figures) }]
    })
    if (counted.length === 0) return
    const all = {
      method: allMethods,
      requests: sumOf(counted, 'requests'),
      errors: sumOf(counted, 'errors'),
      classes: counted.reduce<number[]>((sum, { classes }) => classes.map((one, index) => one + (sum[index] ?? 0)), []),
    }
    this.#add('node', [all, ...counted])
  }

  /** Adds the requests of apps that a worker reports. */
  takeApps(use: AppUse): void {
    for (const { app, methods } of use) {
      const all = { method: allMethods, requests: sumOf(methods, 'requests'), errors: sumOf(methods, 'errors') }
      this.#add({ app }, [all, ...methods])
    }
  }

  /** Returns the figures of a range that ends now. */
  async report(subject: Subject, range: RangeName): Promise<FigureReport> {
    await this.#work
    const series = await this.#of(subject).series
    const nowSeconds = Math.floor(this.#nowMs() / 1000)
    const { stepSeconds, points } = ranges[range]
    const fromSeconds = (Math.floor(nowSeconds / stepSeconds) - points + 1) * stepSeconds
    return { range, stepSeconds, fromSeconds, methods: series.curves(range, nowSeconds) }
  }

  /** Writes changed figures. A problem is reported once, and the write is repeated at the next interval. */
  save(): Promise<void> {
    this.#work = this.#work.then(() => this.#saveNow())
    return this.#work
  }

  #add(subject: Subject, methods: readonly ({ readonly method: string } & Parameters<Series['add']>[2])[]): void {
    const recording = this.#of(subject)
    const nowSeconds = Math.floor(this.#nowMs() / 1000)
    this.#work = this.#work.then(async () => {
      const series = await recording.series
      for (const { method, ...counted } of methods) series.add(nowSeconds, method, counted)
      recording.isDirty = true
    })
  }

  #of(subject: Subject): Recording {
    const name = subject === 'node' ? '' : subject.app
    const recording = this.#recordings.get(name) ?? { subject, series: this.#read(subject), isDirty: false }
    this.#recordings.delete(name)
    this.#recordings.set(name, recording)
    return recording
  }

  async #read(subject: Subject): Promise<Series> {
    try {
      return new Series(await this.#files?.read(subject))
    } catch (error) {
      this.#onProblem(error as Error)
      return new Series()
    }
  }

  async #saveNow(): Promise<void> {
    const changed = [...this.#recordings.values()].filter(({ isDirty }) => isDirty)
    try {
      for (const recording of changed) {
        await this.#files?.write(recording.subject, (await recording.series).record)
        recording.isDirty = false
      }
      if (changed.length > 0) await this.#files?.keepAtMost(maxApps)
      this.#problem = ''
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#problem) this.#onProblem(error as Error)
      this.#problem = message
    }
    this.#shrink()
  }

  /** Bounds the memory. Figures that are dropped here are read again from their file. */
  #shrink(): void {
    for (const name of this.#recordings.keys()) {
      if (this.#recordings.size <= maxApps + 1) return
      if (name !== '') this.#recordings.delete(name)
    }
  }
}

function sumOf(methods: readonly MethodUse[], name: 'requests' | 'errors'): number {
  return methods.reduce((sum, method) => sum + method[name], 0)
}
