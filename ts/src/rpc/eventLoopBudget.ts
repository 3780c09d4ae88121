// The global `performance` is a getter, which costs more than this import.
import { performance } from 'node:perf_hooks'

/**
 * Time per turn of the event loop after which requests of a size wait for a later turn, in which the worker has served its
 * sockets. Light requests wait later: uWebSockets closes a connection if requests are pipelined behind a waiting one.
 */
const turnMs = { light: 4, answers: 2, heavy: 2 }
/** Work in ms after which the end of the turn is observed. Observing it costs more than less work is worth. */
const observedMs = 1

/**
 * Size of work. A single short request is light, a batch or a large body is heavy. Answers of the pool are settled between
 * them. Light requests go first, answers and heavy work take turns.
 */
export type Size = 'light' | 'answers' | 'heavy'

/**
 * Divides the time of a worker among its requests. Requests that arrive after the budget of a turn of the event loop is
 * spent wait for a later turn. Long work checks `isSpent` between its steps.
 */
export class EventLoopBudget {
  readonly #waiting: Record<Size, (() => void)[]> = { light: [], answers: [], heavy: [] }
  readonly #now: () => number
  #usedMs = 0
  /** Sizes of which no work has run in this turn. One piece of each runs although the budget is spent: no work waits indefinitely. */
  #owed: Record<Size, boolean> = { light: true, answers: true, heavy: true }
  #isEndObserved = false
  /** Size of the last work that was not light. */
  #last: Size = 'heavy'

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether heavy work must wait. */
  get isSpent(): boolean {
    return this.#usedMs >= turnMs.heavy
  }

  /** Charges the time that this thread has worked for a request. */
  spend(elapsedMs: number): void {
    this.#usedMs += elapsedMs
    if (this.#usedMs >= observedMs) this.#observeEnd()
  }

  /** Whether `run` would postpone work of a size. */
  mustWait(size: Size): boolean {
    return this.#usedMs >= turnMs[size] || this.#waiting[size].length > 0
  }

  /** Runs work now, or in a later turn if the budget is spent. Light work has to charge its time itself. */
  run<T>(size: Size, work: () => T | Promise<T>): T | Promise<T> {
    if (this.mustWait(size)) return this.later(size, work)
    this.#owed[size] = false
    if (size === 'light') return work()
    const usedMs = this.#usedMs
    const startedMs = this.#now()
    try {
      return work()
    } finally {
      // The work may have charged parts of its time.
      this.#usedMs = usedMs
      this.spend(this.#now() - startedMs)
    }
  }

  /** Runs work in a later turn, behind all waiting work of its size. */
  later<T>(size: Size, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting[size].push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
      this.#observeEnd()
    })
  }

  /** Runs waiting work behind the sockets of this turn, within the rest of its budget. */
  #observeEnd(): void {
    if (this.#isEndObserved) return
    this.#isEndObserved = true
    setImmediate(() => this.#continue())
  }

  /** Runs waiting work until the budget is spent, and at least one piece of each size in a turn. */
  #continue(): void {
    const size = this.#next()
    if (size === undefined) {
      this.#isEndObserved = false
      this.#usedMs = 0
      this.#owed = { light: true, answers: true, heavy: true }
      if (Object.values(this.#waiting).some(({ length }) => length > 0)) this.#observeEnd()
      return
    }
    const work = this.#waiting[size].shift() as () => void
    this.#owed[size] = false
    if (size !== 'light') this.#last = size
    const usedMs = this.#usedMs
    const startedMs = this.#now()
    work()
    // Reactions to promises of the work run first and are charged, too: a tick runs behind all microtasks.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#usedMs = usedMs + this.#now() - startedMs
        this.#continue()
      }),
    )
  }

  /** Returns the size of the next work of this turn, undefined if all waits for a later turn. */
  #next(): Size | undefined {
    const order = this.#last === 'answers' ? heavyFirst : answersFirst
    return order.find((size) => this.#waiting[size].length > 0 && (this.#owed[size] || !this.isSpent))
  }
}

const heavyFirst = ['light', 'heavy', 'answers'] as const
const answersFirst = ['light', 'answers', 'heavy'] as const

/** Budget of this thread. */
export const eventLoopBudget = new EventLoopBudget()
