/** Requests of an app for one method. */
export interface MethodUse {
  readonly method: string
  readonly requests: number
  readonly errors: number
}

/** Requests of apps since the previous report. */
export type AppUse = readonly { readonly app: string; readonly methods: readonly MethodUse[] }[]

const reportMs = 5000

interface Use {
  requests: number
  errors: number
}

/** Counts the requests of each app by method in one worker, and reports the sums every five seconds. */
export class AppUseCounter {
  readonly #report: (use: AppUse) => void
  readonly #apps = new Map<string, Map<string, Use>>()
  readonly #timer: NodeJS.Timeout

  constructor(report: (use: AppUse) => void) {
    this.#report = report
    this.#timer = setInterval(() => this.#flush(), reportMs).unref()
  }

  /** Counts a request. `method` must be one of a bounded set of names. */
  count(app: string, method: string, isError: boolean): void {
    const methods = this.#apps.get(app) ?? new Map<string, Use>()
    const use = methods.get(method) ?? { requests: 0, errors: 0 }
    this.#apps.set(app, methods)
    methods.set(method, use)
    use.requests++
    if (isError) use.errors++
  }

  /** Reports the remaining counts and ends. */
  stop(): void {
    clearInterval(this.#timer)
    this.#flush()
  }

  #flush(): void {
    if (this.#apps.size === 0) return
    this.#report(
      [...this.#apps].map(([app, methods]) => ({
        app,
        methods: [...methods].map(([method, use]) => ({ method, ...use })),
      })),
    )
    this.#apps.clear()
  }
}
