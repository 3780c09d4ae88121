// Counters of a worker in shared memory: a few additions for each request. Other threads read them without a message to a
// busy worker.

/** Upper bounds of the latency classes in seconds. One more class follows without a bound. */
export const latencyBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

const classes = latencyBounds.length + 1
/** The counts of the classes, then the sum of all latencies in seconds. */
const cellsPerMethod = classes + 1
/** Number of counters for error codes. The last one counts all further codes, under the code 0. */
const codeCounters = 32

/** Gauges, in the order of their counters. */
const gauges = [
  'httpConnections',
  'refusedConnections',
  'subscriptions',
  'loopDelay99',
  'loopDelayMaximum',
  'loopWorkMaximum',
] as const
export type GaugeName = (typeof gauges)[number]

/** HTTP statuses with a separate counter; the last entry counts all others. */
const statuses = [400, 401, 403, 405, 408, 413, 415, 426, 429, 503, 0] as const

/** Counts and latencies of one method. */
export interface MethodFigures {
  readonly method: string
  /** Requests of each latency class: one for each of `latencyBounds`, and one beyond the last bound. */
  readonly counts: readonly number[]
  readonly seconds: number
  readonly errors: readonly { readonly code: number; readonly count: number }[]
}

/** The counters of one worker. One thread writes; readers may miss the most recent request. */
export class Counters {
  /** To hand to another thread, which creates a `Counters` from it with the same methods. */
  readonly memory: SharedArrayBuffer
  readonly #methods: readonly string[]
  readonly #indexes: ReadonlyMap<string, number>
  readonly #gauges: Float64Array
  readonly #latencies: Float64Array
  /** The error code of each counter. */
  readonly #codes: Float64Array
  readonly #errors: Float64Array
  readonly #statuses: Float64Array

  /** `methods` are the counted names. Any other name, which callers may send at will, is counted as `other`. */
  constructor(methods: readonly string[], memory?: SharedArrayBuffer) {
    this.#methods = [...methods, 'other']
    this.#indexes = new Map(this.#methods.map((name, index) => [name, index]))
    const count = this.#methods.length
    const sizes = [gauges.length, count * cellsPerMethod, codeCounters, count * codeCounters, statuses.length]
    this.memory = memory ?? new SharedArrayBuffer(8 * sizes.reduce((sum, size) => sum + size, 0))
    let start = 0
    const [gaugeCells, latencies, codes, errors, statusCells] = sizes.map((size) => {
      const cells = new Float64Array(this.memory, start, size)
      start += 8 * size
      return cells
    }) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]
    this.#gauges = gaugeCells
    this.#latencies = latencies
    this.#codes = codes
    this.#errors = errors
    this.#statuses = statusCells
  }

  /** Returns the name under which a method is counted: its own, or `other`. */
  nameOf(method: string): string {
    return this.#indexes.has(method) ? method : 'other'
  }

  /** Counts an answered request. */
  count(method: string, elapsedMs: number, errorCode: number | undefined): void {
    const index = this.#indexes.get(method) ?? this.#methods.length - 1
    const seconds = elapsedMs / 1000
    let latency = 0
    while (latency < latencyBounds.length && seconds > (latencyBounds[latency] as number)) latency++
    const start = index * cellsPerMethod
    add(this.#latencies, start + latency, 1)
    add(this.#latencies, start + classes, seconds)
    if (errorCode !== undefined) add(this.#errors, index * codeCounters + this.#codeIndex(errorCode), 1)
  }

  /** Counts a request that was refused with an HTTP status, or a WebSocket message that has the same reason. */
  countStatus(status: number): void {
    const index = (statuses as readonly number[]).indexOf(status)
    add(this.#statuses, index === -1 ? statuses.length - 1 : index, 1)
  }

  /** Returns the refusals by HTTP status, without zeros; 0 stands for all other statuses. */
  refusals(): { readonly status: number; readonly count: number }[] {
    return statuses
      .map((status, index) => ({ status, count: this.#statuses[index] as number }))
      .filter(({ count }) => count > 0)
  }

  set(gauge: GaugeName, value: number): void {
    this.#gauges[gauges.indexOf(gauge)] = value
  }

  change(gauge: GaugeName, difference: number): void {
    add(this.#gauges, gauges.indexOf(gauge), difference)
  }

  gauge(gauge: GaugeName): number {
    return this.#gauges[gauges.indexOf(gauge)] as number
  }

  /** Returns the figures of all methods that were called at least once. */
  methods(): MethodFigures[] {
    return this.#methods
      .map((method, index) => this.#figures(method, index))
      .filter((figures) => figures.counts.some((count) => count > 0))
  }

  #figures(method: string, index: number): MethodFigures {
    const start = index * cellsPerMethod
    const errors = [...this.#errors.subarray(index * codeCounters, (index + 1) * codeCounters)]
      .map((count, codeIndex) => ({ code: this.#codes[codeIndex] as number, count }))
      .filter(({ count }) => count > 0)
    const counts = [...this.#latencies.subarray(start, start + classes)]
    return { method, counts, seconds: this.#latencies[start + classes] as number, errors }
  }

  #codeIndex(code: number): number {
    for (let index = 0; index < codeCounters - 1; index++) {
      if (this.#codes[index] === code) return index
      if (this.#codes[index] === 0) {
        this.#codes[index] = code
        return index
      }
    }
    return codeCounters - 1
  }
}

function add(cells: Float64Array, index: number, amount: number): void {
  cells[index] = (cells[index] as number) + amount
}
