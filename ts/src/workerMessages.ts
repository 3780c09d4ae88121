import type { Keys } from './auth/keyring.ts'
import type { Config } from './config/schema.ts'
import type { FilterQuestion, FilterReply } from './filters/port.ts'
import type { AppUse } from './observe/appUse.ts'
import type { StoreHealth } from './observe/health.ts'

/** What a worker is started with. */
export interface WorkerStart {
  readonly index: number
  readonly config: Config
  readonly keys: Keys
  /** Where what apps spend is counted by all workers. */
  readonly meters: SharedArrayBuffer
  /** How the store is that nodes share; undefined when there is none. */
  readonly store: StoreHealth | undefined
  /** One number that all workers share: the WebSocket connections that are open. */
  readonly openSockets: Int32Array
  /** Where all workers count the connections of each client. */
  readonly connections: Int32Array
  /** Where all threads count the bytes that wait, see `budgetCells`; place 0 is the main thread's. */
  readonly memory: Int32Array
  /** Where this worker counts for others to see; without it nobody looks. */
  readonly counters: SharedArrayBuffer | undefined
}

export type ToWorker =
  /** The node is open: serve on these ports, one for each address. */
  | { readonly kind: 'listen'; readonly ports: readonly number[] }
  /** Limits have changed. */
  | { readonly kind: 'configure'; readonly config: Config }
  /** The files of certificates have changed. */
  | { readonly kind: 'certificates' }
  /** Finish what runs, then end. */
  | { readonly kind: 'stop'; readonly graceMs: number }
  /** From now on these keys are good. */
  | { readonly kind: 'keys'; readonly keys: Keys }
  /** The store that nodes share went away or came back. */
  | { readonly kind: 'store'; readonly store: StoreHealth }
  | FilterReply

export type FromWorker =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' }
  /** A caller asks the node to end (rsk_shutdown). */
  | { readonly kind: 'shutdown' }
  /** What apps asked this worker for since the last such message. */
  | { readonly kind: 'appUse'; readonly use: AppUse }
  | FilterQuestion
