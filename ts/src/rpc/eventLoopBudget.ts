// The global `performance` is a getter, which costs more than this import.
import { performance } from 'node:perf_hooks'

/**
 * Time per turn of the event loop after which requests of a size wait for a later turn, in which the worker has served its
 * sockets. Light requests wait later: uWebSockets closes a connection if requests are pipelined behind a waiting one.
 */
const turnMs: Record<Size, number> = { light: 8, heavy: 4 }
/** Work in ms after which the end of the turn is observed. Observing it costs more than less work is worth. */
const observedMs = 1

/** Size of a request: a single short request is light, a batch or a large body is heavy. Light requests go first. */
export type Size = 'light' | 'heavy'

/**
 * Divides the time of a worker among its requests. Requests that arrive after the budget of a turn of the event loop is
 * spent wait for a later turn. Long work checks `isSpent` between its steps.
 */
export class EventLoopBudget {
  readonly #waiting: Record<Size, (() => void)[]> = { light: [], heavy: [] }
  readonly #now: () => number
  #usedMs = 0
  #isEndObserved = false

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

  /** Runs work now, or in a later turn if the budget is spent. */
  run<T>(size: Size, work: () => T | Promise<T>): T | Promise<T> {
    const mustWait = this.#usedMs >= turnMs[size] || this.#waiting[size].length > 0
    return mustWait ? this.later(size, work) : work()
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

  #observeEnd(): void {
    if (this.#isEndObserved) return
    this.#isEndObserved = true
    setImmediate(() => {
      this.#isEndObserved = false
      this.#usedMs = 0
      this.#continue(true)
    })
  }

  /** Runs waiting work until the budget is spent: light work first, but at least one heavy piece in each turn. */
  #continue(owesHeavy: boolean): void {
    const { light, heavy } = this.#waiting
    const isHeavy = light.length === 0 || (this.isSpent && owesHeavy)
    const work = isHeavy ? heavy.shift() : light.shift()
    if (work === undefined) return
    const usedMs = this.#usedMs
    const startedMs = this.#now()
    work()
    // Reactions to promises of the work run first and are charged, too: a tick runs behind all microtasks.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#usedMs = usedMs + this.#now() - startedMs
        const mayGoOn = !this.isSpent || (owesHeavy && !isHeavy && heavy.length > 0)
        if (mayGoOn) this.#continue(owesHeavy && !isHeavy)
        else if (light.length + heavy.length > 0) this.#observeEnd()
      }),
    )
  }
}

/** Budget of this thread. */
export const eventLoopBudget = new EventLoopBudget()
