// Types of the answers of the admin API, shared by server and page.

import type { AppView, KeyUrls } from '../auth/appView.ts'
import type { Usage } from '../auth/store.ts'
import type { MethodCurve, RangeName } from './figures/series.ts'

export type { AppView, KeyUrls } from '../auth/appView.ts'
export type { MethodCurve, RangeName } from './figures/series.ts'

/** Usage of an app at all nodes, in the UTC day and month. */
export interface AppUse {
  readonly today: Usage
  readonly month: Usage
}

/** GET /api/apps/NAME. */
export interface ListedApp extends AppView {
  readonly usage: AppUse
}

/** GET /api/apps. */
export interface AppList {
  readonly apps: readonly ListedApp[]
}

/** POST /api/apps and POST /api/apps/NAME/rotate. No other answer contains the key and its URLs. */
export interface AppWithKey {
  readonly app: AppView
  readonly key: string
  readonly urls: KeyUrls
}

/** GET /api/figures?range=hour|day|month[&app=NAME]. */
export interface FigureReport {
  readonly range: RangeName
  readonly stepSeconds: number
  /** Start of the first step, in seconds since 1970. */
  readonly fromSeconds: number
  /** `all` first, then by number of requests. Latencies of apps are not counted. */
  readonly methods: readonly MethodCurve[]
}

/** Answers with a status of 400 or above. */
export interface Refusal {
  readonly error: {
    /** One word for programs. */
    readonly code: string
    readonly message: string
    /** The invalid member of the body, e.g. `limits.burst`. */
    readonly member?: string
  }
}

/** Threads and queue of an executor. */
export interface ExecutorReport {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
}

export interface MethodReport {
  readonly method: string
  /** Requests since the start. */
  readonly count: number
  readonly errors: number
  /** Rate of the last 30 seconds. */
  readonly perSecond: number
  /** Percentiles of the last five minutes; null without requests. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** Requests per second, one value for each five seconds of the last five minutes. */
  readonly curve: readonly number[]
}

/** GET /api/node. */
export interface NodeReport {
  readonly version: string
  readonly network: string
  readonly url: string
  readonly upSeconds: number
  readonly workers: number
  /** Whether requests need no key now, whether they need none even if apps exist, and whether apps can be stored. */
  readonly access: { readonly isOpen: boolean; readonly staysOpen: boolean; readonly keepsApps: boolean }
  readonly health: {
    readonly ready: boolean
    readonly head: { readonly number: number; readonly hash: string; readonly ageSeconds: number } | null
    readonly lagBlocks: number | null
    readonly reasons: readonly string[]
  }
  readonly blocks: { readonly perSecond: number; readonly curve: readonly number[] }
  readonly requests: Omit<MethodReport, 'method'>
  readonly methods: readonly MethodReport[]
  /** `other`: codes beyond the first 31 different codes. */
  readonly errors: readonly { readonly code: number | 'other'; readonly count: number; readonly perSecond: number }[]
  /** Requests and connections that were refused with an HTTP status; `other`: all other statuses. */
  readonly refusals: readonly {
    readonly status: number | 'other'
    readonly count: number
    readonly perSecond: number
  }[]
  readonly connections: {
    readonly http: number
    readonly webSocket: number
    readonly subscriptions: number
    /** Filters of all nodes that share a store; null while the store is away. */
    readonly filters: number | null
  }
  readonly pool: { readonly pending: number; readonly queued: number } | null
  readonly lanes: { readonly pool: ExecutorReport; readonly trace: ExecutorReport } | null
  readonly memory: { readonly residentBytes: number; readonly cacheBytes: number; readonly writeBufferBytes: number }
  readonly database: { readonly fileBytes: number; readonly compactionBytes: number } | null
}
