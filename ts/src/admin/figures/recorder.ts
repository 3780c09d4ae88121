import type { AppUse, MethodUse } from '../../observe/appUse.ts'
import { countOf, countsBetween, type Sample } from '../../observe/history.ts'
import type { FigureReport } from '../shapes.ts'
import type { FigureFiles, Subject } from './files.ts'
import { type RangeName, ranges, Series } from './series.ts'

/** How often changed figures are written: a crash loses what came since. */
const writeMs = 60_000

/** Apps whose figures are kept; beyond that those go that were used longest ago. */
export const mostApps = 1000

/** The line of all methods together: its percentiles cannot be computed from those of the methods. */
export const allMethods = 'all'

interface Kept {
  readonly subject: Subject
  readonly series: Promise<Series>
  isDirty: boolean
}

/** Figures over time of the node and of each app, kept in files and written once a minute. Without files in memory only. */
export class FigureRecorder {
  readonly #files: FigureFiles | undefined
  readonly #onProblem: (error: Error) => void
  readonly #nowMs: () => number
  /** By name; the node's under the empty name. Those used longest ago come first. */
  readonly #kept = new Map<string, Kept>()
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

  /** Writes what is not written yet. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.save()
  }

  /** Counts what the node answered since the sample before. */
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
      classes: counted.reduce<number[]>((sum, { classes }) => classes.map((one, place) => one + (sum[place] ?? 0)), []),
    }
    this.#add('node', [all, ...counted])
  }

  /** Counts what a worker answered to apps. */
  takeApps(use: AppUse): void {
    for (const { app, methods } of use) {
      const all = { method: allMethods, requests: sumOf(methods, 'requests'), errors: sumOf(methods, 'errors') }
      this.#add({ app }, [all, ...methods])
    }
  }

  /** The figures of a range that ends now. */
  async report(subject: Subject, range: RangeName): Promise<FigureReport> {
    await this.#work
    const series = await this.#of(subject).series
    const nowSeconds = Math.floor(this.#nowMs() / 1000)
    const { stepSeconds, points } = ranges[range]
    const fromSeconds = (Math.floor(nowSeconds / stepSeconds) - points + 1) * stepSeconds
    return { range, stepSeconds, fromSeconds, methods: series.curves(range, nowSeconds) }
  }

  /** Writes all that has changed; a problem is reported once and what was not written is tried again the next time. */
  save(): Promise<void> {
    this.#work = this.#work.then(() => this.#saveNow())
    return this.#work
  }

  #add(subject: Subject, methods: readonly ({ readonly method: string } & Parameters<Series['add']>[2])[]): void {
    const kept = this.#of(subject)
    const nowSeconds = Math.floor(this.#nowMs() / 1000)
    this.#work = this.#work.then(async () => {
      const series = await kept.series
      for (const { method, ...counted } of methods) series.add(nowSeconds, method, counted)
      kept.isDirty = true
    })
  }

  #of(subject: Subject): Kept {
    const name = subject === 'node' ? '' : subject.app
    const kept = this.#kept.get(name) ?? { subject, series: this.#read(subject), isDirty: false }
    this.#kept.delete(name)
    this.#kept.set(name, kept)
    return kept
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
    const changed = [...this.#kept.values()].filter(({ isDirty }) => isDirty)
    try {
      for (const kept of changed) {
        await this.#files?.write(kept.subject, (await kept.series).record)
        kept.isDirty = false
      }
      if (changed.length > 0) await this.#files?.keepAtMost(mostApps)
      this.#problem = ''
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#problem) this.#onProblem(error as Error)
      this.#problem = message
    }
    this.#shrink()
  }

  /** Bounds the memory. Figures that are removed here are read again from their file when there is one. */
  #shrink(): void {
    for (const name of this.#kept.keys()) {
      if (this.#kept.size <= mostApps + 1) return
      if (name !== '') this.#kept.delete(name)
    }
  }
}

function sumOf(methods: readonly MethodUse[], name: 'requests' | 'errors'): number {
  return methods.reduce((sum, method) => sum + method[name], 0)
}
