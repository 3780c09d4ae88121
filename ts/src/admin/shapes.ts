// What the API answers; the page is written against the same lines.

import type { AppView, KeyUrls } from '../auth/appView.ts'
import type { Usage } from '../auth/store.ts'
import type { MethodCurve, RangeName } from './figures/series.ts'

export type { AppView, KeyUrls } from '../auth/appView.ts'
export type { MethodCurve, RangeName } from './figures/series.ts'

/** What an app has used, of all nodes together; days and months are those of UTC. */
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

/** POST /api/apps and POST /api/apps/NAME/rotate. Key and URLs are in no other answer. */
export interface AppWithKey {
  readonly app: AppView
  readonly key: string
  readonly urls: KeyUrls
}

/** GET /api/figures?range=hour|day|month[&app=NAME]. */
export interface FigureReport {
  readonly range: RangeName
  readonly stepSeconds: number
  /** When the first step begins: seconds since 1970. */
  readonly fromSeconds: number
  /** `all` first, the others by their number of requests. Latencies of apps are not counted. */
  readonly methods: readonly MethodCurve[]
}

/** Any answer with a status from 400 on. */
export interface Refusal {
  readonly error: {
    /** One word for programs. */
    readonly code: string
    readonly message: string
    /** Which member of the body is wrong, e.g. `limits.burst`. */
    readonly member?: string
  }
}

export interface LaneReport {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
}

export interface MethodReport {
  readonly method: string
  /** Since the start. */
  readonly count: number
  readonly errors: number
  /** Of the last half minute. */
  readonly perSecond: number
  /** Of the last five minutes; null when there was no request. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** Requests per second, a value for every five seconds of the last five minutes. */
  readonly curve: readonly number[]
}

/** GET /api/node. */
export interface NodeReport {
  readonly version: string
  readonly network: string
  readonly url: string
  readonly upSeconds: number
  readonly workers: number
  /** Whether anybody may call without a key, also when there are apps, and whether apps can be kept at all. */
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
  /** `other`: all that came after 31 different codes. */
  readonly errors: readonly { readonly code: number | 'other'; readonly count: number; readonly perSecond: number }[]
  /** Requests and connections that were refused with an HTTP status; `other`: statuses that are not told apart. */
  readonly refusals: readonly {
    readonly status: number | 'other'
    readonly count: number
    readonly perSecond: number
  }[]
  readonly connections: {
    readonly http: number
    readonly webSocket: number
    readonly subscriptions: number
    /** Of all nodes that share a store; null while that is away. */
    readonly filters: number | null
  }
  readonly pool: { readonly pending: number; readonly queued: number } | null
  readonly lanes: { readonly pool: LaneReport; readonly trace: LaneReport } | null
  readonly memory: { readonly residentBytes: number; readonly cacheBytes: number; readonly writeBufferBytes: number }
  readonly database: { readonly fileBytes: number; readonly compactionBytes: number } | null
}
