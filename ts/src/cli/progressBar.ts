import type { WriteStream } from 'node:tty'

const redrawMs = 100

/** One line on a terminal that says how far an import is; silent when the output is no terminal. */
export class ProgressBar {
  readonly #out: WriteStream
  readonly #isShown: boolean
  readonly #startedMs = performance.now()
  #drawnMs = Number.NEGATIVE_INFINITY
  #blocks = 0

  constructor(out: WriteStream, isWanted: boolean) {
    this.#out = out
    this.#isShown = isWanted && out.isTTY
  }

  show(block: { readonly number: number; readonly result: string }): void {
    this.#blocks++
    const now = performance.now()
    if (!this.#isShown || now - this.#drawnMs < redrawMs) return
    this.#drawnMs = now
    const rate = Math.round((this.#blocks * 1000) / (now - this.#startedMs))
    this.#out.write(`\r\x1b[Kblock ${block.number}  ${this.#blocks} read, ${rate} a second  ${block.result}`)
  }

  end(): void {
    if (this.#isShown) this.#out.write('\r\x1b[K')
  }
}
