import type { WriteStream } from 'node:tty'

const redrawMs = 100
/** The rate is that of the last seconds: an import slows down and speeds up with its blocks. */
const rateMs = 5000

/** One line on a terminal that says how far a piece of work is; silent when the output is no terminal. */
export class ProgressBar {
  readonly #out: Pick<WriteStream, 'write' | 'isTTY'>
  readonly #isShown: boolean
  readonly #now: () => number
  /** When how much was done: the first one is the oldest that counts for the rate. */
  #marks: { readonly ms: number; readonly done: number }[]
  #drawnMs = Number.NEGATIVE_INFINITY

  constructor(
    out: Pick<WriteStream, 'write' | 'isTTY'>,
    isWanted: boolean,
    now: () => number = () => performance.now(),
  ) {
    this.#out = out
    this.#isShown = isWanted && out.isTTY
    this.#now = now
    this.#marks = [{ ms: now(), done: 0 }]
  }

  /** `done` of `total` (null: nobody knows) blocks; `text` says what was last. */
  show(text: string, done: number, total: number | null, unit = 'blocks'): void {
    const ms = this.#now()
    if (!this.#isShown || ms - this.#drawnMs < redrawMs) return
    this.#drawnMs = ms
    // Another count has begun.
    if (done < (this.#marks.at(-1)?.done ?? 0)) this.#marks = []
    this.#marks.push({ ms, done })
    while (this.#marks.length > 2 && ms - (this.#marks[1]?.ms ?? ms) >= rateMs) this.#marks.shift()
    const since = this.#marks[0] ?? { ms, done }
    const rate = ms > since.ms ? ((done - since.done) * 1000) / (ms - since.ms) : 0
    const parts = [text, total === null ? `${done} ${unit}` : `${done} of ${total} ${unit}`]
    if (rate > 0) parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)} ${unit}/s`)
    if (rate > 0 && total !== null) parts.push(`${duration((total - done) / rate)} left`)
    this.#out.write(`\r\x1b[K${parts.join('  ')}`)
  }

  end(): void {
    if (this.#isShown) this.#out.write('\r\x1b[K')
  }
}

function duration(seconds: number): string {
  const whole = Math.ceil(Math.max(0, seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
