import type { WriteStream } from 'node:tty'

const redrawMs = 100
/** Window of the rate: the speed of an import varies with its blocks. */
const rateMs = 5000

/** One line on a terminal with progress, rate and remaining time. Prints nothing if the output is not a terminal. */
export class ProgressBar {
  readonly #out: Pick<WriteStream, 'write' | 'isTTY'>
  readonly #isShown: boolean
  readonly #now: () => number
  /** Progress over time, oldest first; the first mark is the start of the window of the rate. */
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

  /** Shows `done` of `total` (null: unknown) units; `text` describes the most recent one. */
  show(text: string, done: number, total: number | null, unit = 'blocks'): void {
    const ms = this.#now()
    if (!this.#isShown || ms - this.#drawnMs < redrawMs) return
    this.#drawnMs = ms
    // A new count has started.
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

/** Formats a duration in its two largest units. */
export function duration(seconds: number): string {
  const whole = Math.ceil(Math.max(0, seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
