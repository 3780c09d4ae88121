import type { Addon } from './bindings.ts'

/** Changes of the head for all parts of one worker: the addon has one listener for each worker. */
export class HeadChanges {
  readonly #native: Pick<Addon, 'onHead'>
  readonly #listeners = new Set<() => void>()
  #isListening = false

  constructor(native: Pick<Addon, 'onHead'>) {
    this.#native = native
  }

  /** Calls back after each change from now on. Changes in quick succession cause a single call. */
  add(listener: () => void): void {
    this.#listeners.add(listener)
    if (this.#isListening) return
    this.#isListening = true
    this.#native.onHead(() => {
      // A copy: a listener may remove itself.
      for (const each of [...this.#listeners]) each()
    })
  }

  /** Waits for the next change, for `limitMs` at most. */
  next(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#listeners.delete(end)
        resolve()
      }
      const timer = setTimeout(end, limitMs)
      this.add(end)
    })
  }
}
