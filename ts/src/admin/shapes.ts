// Types of the answers of the admin API, shared by server and page.

import type { AppView, KeyUrls } from '../auth/appView.ts'
import type { Usage } from '../auth/store.ts'
import type { SyncProgress } from '../observe/syncProgress.ts'
import type { MethodCurve, RangeName } from './figures/series.ts'

export type { AppView, KeyUrls } from '../auth/appView.ts'
export type { SyncProgress } from '../observe/syncProgress.ts'
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

/** A connected node. */
export interface PeerView {
  /** Node id, 128 hex digits. */
  readonly id: string
  readonly enode: string
  /** Program and version, as the peer states. */
  readonly client: string
  readonly capabilities: readonly string[]
  readonly address: string
  /** `in`: the peer dialled this node. */
  readonly direction: 'in' | 'out'
  /** Whether the operator named the peer. */
  readonly isStatic: boolean
  readonly connectedSeconds: number
  /** Negative after an offence. */
  readonly score: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Best block as the peer last stated it; the number is unknown before its first STATUS. */
  readonly head: { readonly number: number | null; readonly hash: string } | null
}

/** A ban of the operator. */
export interface BanView {
  /** Node id, address, or block of addresses. */
  readonly target: string
  /** ISO 8601; null: without end. */
  readonly until: string | null
}

/** GET /api/peers. */
export interface PeerList {
  /** URL of this node; null without a listener, and without peers. */
  readonly enode: string | null
  readonly peers: readonly PeerView[]
  /** URLs of the nodes that are always dialled. */
  readonly dialled: readonly string[]
  readonly bans: readonly BanView[]
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

/** The fleet as this node sees it. */
export interface FleetReport {
  readonly role: string
  /** Why this node is not fully part of the fleet. */
  readonly failure: string | null
  /** Whether this node publishes the stream of changes; null if it never does. */
  readonly publishesChanges: boolean | null
  readonly nodes: readonly {
    readonly name: string
    readonly role: string
    readonly version: string
    readonly head: number
    readonly blocksBehind: number
    /** Time for which it has lacked the best head. */
    readonly behindMs: number
    /** Time since its last announcement. */
    readonly silentMs: number
    readonly isReady: boolean
  }[]
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
  /** Null if the node runs without peers. */
  readonly sync: SyncProgress | null
  /** Null without a fleet. */
  readonly fleet: FleetReport | null
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
  readonly lanes: Readonly<Record<'pool' | 'send' | 'trace', ExecutorReport>> | null
  readonly memory: { readonly residentBytes: number; readonly cacheBytes: number; readonly writeBufferBytes: number }
  readonly database: { readonly fileBytes: number; readonly compactionBytes: number } | null
}
