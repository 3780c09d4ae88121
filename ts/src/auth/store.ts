import type { App } from './app.ts'

/** Where apps are kept. The node only reads; commands change. */
export interface AppStore {
  /** Cheap to ask for; differs after each change. */
  revision(): Promise<string>
  /** Throws StoreError when what is kept cannot be trusted. */
  read(): Promise<readonly App[]>
  /** Replaces all apps by what `edit` makes of them: wholly or, when it throws, not at all. One at a time. */
  change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T>
}

/** What was asked for in the name of an app. */
export interface Usage {
  /** Requests that were answered; each of a batch counts. */
  readonly requests: number
  /** Compute units that they cost. */
  readonly units: number
  /** How many of them were answered with an error. */
  readonly errors: number
  /** Bodies and messages that were refused by a limit or an allow list before anything of them was looked at. */
  readonly refused: number
}

/** Usage of one app, since the last time it was told or altogether. */
export interface AppUsage extends Usage {
  readonly app: string
}

/** What an app has used up of its quotas: units of the UTC day and of the UTC month. */
export interface UsedUnits {
  readonly day: number
  readonly month: number
}

/** Usage by UTC day (`2026-11-21`) and UTC month (`2026-11`), newest last; the oldest are forgotten. */
export interface UsageReport {
  readonly app: string
  readonly days: Readonly<Record<string, Usage>>
  readonly months: Readonly<Record<string, Usage>>
}

/** What apps have used, of all nodes together. */
export interface UsageStore {
  /**
   * Adds what this node has counted since the last time, on the day and in the month of `now` (milliseconds since 1970).
   * Answers in the same order, with what all nodes have counted. An element of zeros only asks. When this rejects, nothing
   * was added: the node counts on and tells it all again. Called about four times a second.
   */
  add(counted: readonly AppUsage[], now: number): Promise<readonly UsedUnits[]>
  /** Of all apps that were ever counted. */
  report(): Promise<readonly UsageReport[]>
}

/** What this node has taken out of the bucket of an app since the last time it told. */
export interface Spending {
  readonly app: string
  readonly units: number
  /** How fast the bucket fills. */
  readonly unitsPerSecond: number
  /** How much it holds when it is full, as a new one is. */
  readonly burst: number
  /** Units that the bucket may hold now: more than the burst when it is filled late and empty. Absent: the burst. */
  readonly room?: number
}

/** The buckets that limit the rate of apps: one for each app, whatever the number of nodes. */
export interface RateStore {
  /**
   * Takes what was spent out of the buckets and answers in the same order with what is in them now. A node lets through so
   * much until it asks again, which it does twenty times a second; so several nodes may together spend more than there was.
   * The level is then below 0 and has to be made up for: the rate holds in the long run.
   */
  spend(spent: readonly Spending[], now: number): Promise<readonly number[]>
}

/** Everything that outlives a request and that several nodes may share. */
export interface ServiceStore {
  readonly apps: AppStore
  readonly usage: UsageStore
  readonly rates: RateStore
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** The store cannot be read or written. The message never shows what is in it. */
export class StoreError extends Error {
  override name = 'StoreError'
  /** It cannot be reached; what it holds may be in order. */
  readonly isAway: boolean

  constructor(message: string, isAway = false) {
    super(message)
    this.isAway = isAway
  }
}
