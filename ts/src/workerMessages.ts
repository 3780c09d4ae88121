import type { Keys } from './auth/keyring.ts'
import type { Config } from './config/schema.ts'
import type { FilterQuestion, FilterReply } from './filters/port.ts'
import type { AppUse } from './observe/appUse.ts'
import type { StoreHealth } from './observe/health.ts'

/** Data that a worker starts with. */
export interface WorkerStart {
  readonly index: number
  readonly config: Config
  readonly keys: Keys
  /** Shared meters of all apps. */
  readonly meters: SharedArrayBuffer
  /** State of the shared store; undefined if there is none. */
  readonly store: StoreHealth | undefined
  /** One number shared by all workers: open WebSocket connections. */
  readonly openSockets: Int32Array
  /** One number shared by all workers: 1 if the node may be a fork, see `Context`. */
  readonly mayBeFork: Int32Array
  /** Shared connection table. */
  readonly connections: Int32Array
  /** Shared memory budget, see `sharedCounters`; the main thread has index 0. */
  readonly memory: Int32Array
  /** Shared memory of this worker's counters; undefined if requests are not counted. */
  readonly counters: SharedArrayBuffer | undefined
}

export type ToWorker =
  /** The node is open: serve on these ports, one for each address. */
  | { readonly kind: 'listen'; readonly ports: readonly number[] }
  /** Settings have changed. */
  | { readonly kind: 'configure'; readonly config: Config }
  /** The certificate files have changed. */
  | { readonly kind: 'certificates' }
  /** Finish running requests, then stop. */
  | { readonly kind: 'stop'; readonly graceMs: number }
  /** The valid keys have changed. */
  | { readonly kind: 'keys'; readonly keys: Keys }
  /** The state of the shared store has changed. */
  | { readonly kind: 'store'; readonly store: StoreHealth }
  | FilterReply

export type FromWorker =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' }
  /** A caller requests the shutdown of the node (rsk_shutdown). */
  | { readonly kind: 'shutdown' }
  /** Requests of apps since the previous message of this kind. */
  | { readonly kind: 'appUse'; readonly use: AppUse }
  | FilterQuestion
