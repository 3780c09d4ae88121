// What a worker counts while it serves: a few additions to shared memory for each request. Whoever shows the figures reads
// them there and never has to ask a busy worker.

/** Upper bounds of the classes of latency, in seconds. One more class follows without a bound. */
export const latencyBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

const classes = latencyBounds.length + 1
/** Counts of the classes, then the seconds of all requests together. */
const cellsPerMethod = classes + 1
/** Different error codes that are told apart; the last place counts all further ones under the code 0. */
const codePlaces = 32

/** Figures that go up and down, in the order of their cells. */
const gauges = ['httpConnections', 'refusedConnections', 'subscriptions', 'loopDelay99', 'loopDelayMaximum'] as const
export type GaugeName = (typeof gauges)[number]

/** HTTP statuses that are counted apart; the last entry counts all others. */
const statuses = [400, 401, 403, 405, 408, 413, 415, 426, 429, 503, 0] as const

/** How the requests of one method went. */
export interface MethodFigures {
  readonly method: string
  /** How many were answered within each of `latencyBounds` but not within the one before, and how many later. */
  readonly counts: readonly number[]
  readonly seconds: number
  readonly errors: readonly { readonly code: number; readonly count: number }[]
}

/** The counters of one worker. One thread writes, others read: what they read may be a request behind. */
export class Counters {
  /** To hand to another thread, which makes a `Counters` of it with the same methods. */
  readonly memory: SharedArrayBuffer
  readonly #methods: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  readonly #gauges: Float64Array
  readonly #latencies: Float64Array
  /** Which error code has which place. */
  readonly #codes: Float64Array
  readonly #errors: Float64Array
  readonly #statuses: Float64Array

  /** `methods` are all that are told apart: any other name is counted as `other`, for callers may send what they like. */
  constructor(methods: readonly string[], memory?: SharedArrayBuffer) {
    this.#methods = [...methods, 'other']
    this.#places = new Map(this.#methods.map((name, place) => [name, place]))
    const count = this.#methods.length
    const sizes = [gauges.length, count * cellsPerMethod, codePlaces, count * codePlaces, statuses.length]
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

  /** The name under which a method is counted: its own, or `other`. */
  nameOf(method: string): string {
    return this.#places.has(method) ? method : 'other'
  }

  /** Counts an answered request. */
  count(method: string, elapsedMs: number, errorCode: number | undefined): void {
    const place = this.#places.get(method) ?? this.#methods.length - 1
    const seconds = elapsedMs / 1000
    let latency = 0
    while (latency < latencyBounds.length && seconds > (latencyBounds[latency] as number)) latency++
    const start = place * cellsPerMethod
    add(this.#latencies, start + latency, 1)
    add(this.#latencies, start + classes, seconds)
    if (errorCode !== undefined) add(this.#errors, place * codePlaces + this.#codePlace(errorCode), 1)
  }

  /** Counts a request or message that was refused with an HTTP status, or would have been if it had come over HTTP. */
  countStatus(status: number): void {
    const place = (statuses as readonly number[]).indexOf(status)
    add(this.#statuses, place === -1 ? statuses.length - 1 : place, 1)
  }

  /** Refusals by HTTP status, those that occurred; 0 stands for all other statuses. */
  refusals(): { readonly status: number; readonly count: number }[] {
    return statuses
      .map((status, place) => ({ status, count: this.#statuses[place] as number }))
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

  /** All methods that were asked for at least once. */
  methods(): MethodFigures[] {
    return this.#methods
      .map((method, place) => this.#figures(method, place))
      .filter((figures) => figures.counts.some((count) => count > 0))
  }

  #figures(method: string, place: number): MethodFigures {
    const start = place * cellsPerMethod
    const errors = [...this.#errors.subarray(place * codePlaces, (place + 1) * codePlaces)]
      .map((count, codePlace) => ({ code: this.#codes[codePlace] as number, count }))
      .filter(({ count }) => count > 0)
    const counts = [...this.#latencies.subarray(start, start + classes)]
    return { method, counts, seconds: this.#latencies[start + classes] as number, errors }
  }

  #codePlace(code: number): number {
    for (let place = 0; place < codePlaces - 1; place++) {
      if (this.#codes[place] === code) return place
      if (this.#codes[place] === 0) {
        this.#codes[place] = code
        return place
      }
    }
    return codePlaces - 1
  }
}

function add(cells: Float64Array, place: number, amount: number): void {
  cells[place] = (cells[place] as number) + amount
}
