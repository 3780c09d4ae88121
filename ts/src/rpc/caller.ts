import type { RpcError } from './errors.ts'

/** App that a request is billed to, as the dispatcher uses it. Requests without a key have none. */
export interface Caller {
  /** Name of the app. */
  readonly app: string
  /** Allowed wire names; undefined: all. */
  readonly methods: ReadonlySet<string> | undefined
  /** Allowed contract addresses, in lower case; undefined: all. */
  readonly contracts: ReadonlySet<string> | undefined
  /** Whether `leave` must be called after a body that `enter` admitted is answered. */
  readonly isCountedWhileRunning: boolean
  /** Number of the account, above 0. */
  readonly account: number
  /**
   * Admits a body before it is read, for the price of its bytes, or returns the error. Bytes are paid for even if the
   * requests in them are rejected.
   */
  enter(units: number): RpcError | undefined
  /** Pays for all requests of a body, or returns the error and charges nothing. */
  pay(requests: number, units: number): RpcError | undefined
  leave(): void
  countError(): void
  /** Counts a body that was rejected as a whole. */
  countRefused(): void
  /** Values of `RateLimit-*` for the nearest limit; undefined if there is no limit. */
  limitState(): LimitState | undefined
}

/** In compute units. */
export interface LimitState {
  readonly limit: number
  readonly remaining: number
  /** Seconds until the whole limit is available again. */
  readonly resetSeconds: number
}
