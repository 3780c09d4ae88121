/** What an app asked for of one method. */
export interface MethodUse {
  readonly method: string
  readonly requests: number
  readonly errors: number
}

/** What apps asked for, since the last time it was told. */
export type AppUse = readonly { readonly app: string; readonly methods: readonly MethodUse[] }[]

const tellMs = 5000

interface Use {
  requests: number
  errors: number
}

/** Counts in one worker what each app asks for, by method, and tells the sums every five seconds. */
export class AppUseCounter {
  readonly #tell: (use: AppUse) => void
  readonly #apps = new Map<string, Map<string, Use>>()
  readonly #timer: NodeJS.Timeout

  constructor(tell: (use: AppUse) => void) {
    this.#tell = tell
    this.#timer = setInterval(() => this.#flush(), tellMs).unref()
  }

  /** `method` has to be one of a bounded set of names. */
  count(app: string, method: string, isError: boolean): void {
    const methods = this.#apps.get(app) ?? new Map<string, Use>()
    const use = methods.get(method) ?? { requests: 0, errors: 0 }
    this.#apps.set(app, methods)
    methods.set(method, use)
    use.requests++
    if (isError) use.errors++
  }

  /** Tells what is not told yet. */
  stop(): void {
    clearInterval(this.#timer)
    this.#flush()
  }

  #flush(): void {
    if (this.#apps.size === 0) return
    this.#tell(
      [...this.#apps].map(([app, methods]) => ({
        app,
        methods: [...methods].map(([method, use]) => ({ method, ...use })),
      })),
    )
    this.#apps.clear()
  }
}
