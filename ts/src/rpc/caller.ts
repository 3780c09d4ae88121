import type { RpcError } from './errors.ts'

/** The app on whose account a request is answered, as far as serving it has to ask. Requests without a key have none. */
export interface Caller {
  /** Name of the app. */
  readonly app: string
  /** Wire names that may be called; undefined: all. */
  readonly methods: ReadonlySet<string> | undefined
  /** Addresses, in lower case, that requests may name; undefined: any. */
  readonly contracts: ReadonlySet<string> | undefined
  /** Whether `leave` has to be called when what `enter` let in is answered. */
  readonly isCountedWhileRunning: boolean
  /** The number of the account; above 0. */
  readonly account: number
  /**
   * Lets a body in before it is read, for the price of its bytes, or says why it is not served now. Bytes are paid for even
   * when the requests in them are refused.
   */
  enter(units: number): RpcError | undefined
  /** Pays for all requests of a body, or says why they are not served now: then nothing was paid. */
  pay(requests: number, units: number): RpcError | undefined
  leave(): void
  countError(): void
  /** Counts a body that was refused as a whole. */
  countRefused(): void
  /** `RateLimit-*` of the limit that is nearest; undefined when there is none. */
  limitState(): LimitState | undefined
}

/** In compute units. */
export interface LimitState {
  readonly limit: number
  readonly remaining: number
  /** Seconds until all of the limit is there again. */
  readonly resetSeconds: number
}
