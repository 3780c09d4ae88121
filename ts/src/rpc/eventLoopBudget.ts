// The global of this name is looked up through a getter each time.
import { performance } from 'node:perf_hooks'

/**
 * How long requests may hold up a worker before those of a size have to wait until it has looked at its sockets again. A
 * light one waits later: uWebSockets closes the connection when another one is pipelined behind it.
 */
const turnMs: Record<Size, number> = { light: 8, heavy: 4 }
/** After so much work the end of the turn is noted: to note it for less would cost more than it tells. */
const notedMs = 1

/** Some callers wait for a single short request, others for a batch or a large body: those with little to do come first. */
export type Size = 'light' | 'heavy'

/**
 * Divides the time of a worker among its requests. What comes when the turn of the event loop has lasted too long waits for
 * a later one, and long work asks between its steps whether it has to wait.
 */
export class EventLoopBudget {
  readonly #waiting: Record<Size, (() => void)[]> = { light: [], heavy: [] }
  readonly #now: () => number
  #usedMs = 0
  #isEndNoted = false

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether work that is not short has to wait. */
  get isSpent(): boolean {
    return this.#usedMs >= turnMs.heavy
  }

  /** Tells how long this thread has been at work for a request. */
  spend(elapsedMs: number): void {
    this.#usedMs += elapsedMs
    if (this.#usedMs >= notedMs) this.#noteEnd()
  }

  /** Does work now, or when there is time for it. */
  run<T>(size: Size, work: () => T | Promise<T>): T | Promise<T> {
    const mustWait = this.#usedMs >= turnMs[size] || this.#waiting[size].length > 0
    return mustWait ? this.later(size, work) : work()
  }

  /** Does work in a later turn, behind what waits already. */
  later<T>(size: Size, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting[size].push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
      this.#noteEnd()
    })
  }

  #noteEnd(): void {
    if (this.#isEndNoted) return
    this.#isEndNoted = true
    setImmediate(() => {
      this.#isEndNoted = false
      this.#usedMs = 0
      this.#continue(true)
    })
  }

  /** Does what waits until the time is used up: the light first, but at least one that is heavy in each turn. */
  #continue(owesHeavy: boolean): void {
    const { light, heavy } = this.#waiting
    const isHeavy = light.length === 0 || (this.isSpent && owesHeavy)
    const work = isHeavy ? heavy.shift() : light.shift()
    if (work === undefined) return
    const usedMs = this.#usedMs
    const startedMs = this.#now()
    work()
    // Promises that the work has kept go on first, and their time counts, too: a tick comes behind all microtasks.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#usedMs = usedMs + this.#now() - startedMs
        const mayGoOn = !this.isSpent || (owesHeavy && !isHeavy && heavy.length > 0)
        if (mayGoOn) this.#continue(owesHeavy && !isHeavy)
        else if (light.length + heavy.length > 0) this.#noteEnd()
      }),
    )
  }
}

/** Those of this thread. */
export const eventLoopBudget = new EventLoopBudget()
