import type { App } from './app.ts'

/** Storage of apps. The node reads; commands and the admin API write. */
export interface AppStore {
  /** Returns a text that differs after each change. Cheap. */
  revision(): Promise<string>
  /** Reads all apps. Throws StoreError when the content is damaged. */
  read(): Promise<readonly App[]>
  /** Replaces all apps by the result of `edit`, atomically; changes nothing when `edit` throws. */
  change<T extends { readonly apps: readonly App[] }>(edit: (apps: readonly App[]) => T): Promise<T>
}

/** Usage of an app. */
export interface Usage {
  /** Answered requests; each request of a batch counts. */
  readonly requests: number
  /** Compute units of these requests. */
  readonly units: number
  /** Requests that were answered with an error. */
  readonly errors: number
  /** Bodies and messages that were refused by a limit or an allow list. */
  readonly refused: number
}

/** Usage of one app, since the previous report or in total. */
export interface AppUsage extends Usage {
  readonly app: string
}

/** Units that an app has used in the UTC day and the UTC month. */
export interface UsedUnits {
  readonly day: number
  readonly month: number
}

/** Usage by UTC day (`2026-11-21`) and UTC month (`2026-11`), in order. The oldest periods are dropped. */
export interface UsageReport {
  readonly app: string
  readonly days: Readonly<Record<string, Usage>>
  readonly months: Readonly<Record<string, Usage>>
}

/** Usage of apps, summed over all nodes. */
export interface UsageStore {
  /**
   * Adds the counts since the previous call to the day and the month of `now` (milliseconds since 1970). Returns the units
   * of all nodes in the same order; an element of zeros only reads. When this rejects, nothing was added, and the node
   * reports the counts again. Called about four times a second.
   */
  add(counted: readonly AppUsage[], now: number): Promise<readonly UsedUnits[]>
  /** Returns the usage of all apps that were ever counted. */
  report(): Promise<readonly UsageReport[]>
}

/** Units that an app has spent at this node since the previous report. */
export interface Spending {
  readonly app: string
  readonly units: number
  /** Fill rate of the bucket. */
  readonly unitsPerSecond: number
  /** Size of the bucket. A new bucket is full. */
  readonly burst: number
  /** Size of the bucket for this call: more than the burst when an empty bucket is filled late. Absent: the burst. */
  readonly room?: number
}

/** Token buckets that limit the rates of apps: one for each app, whatever the number of nodes. */
export interface RateStore {
  /**
   * Takes spent units out of the buckets and returns their levels in the same order. A node may spend this level until its
   * next call, twenty times a second, so several nodes together may spend more. The level is then negative until it is
   * filled again: the rate holds in the long run.
   */
  spend(spent: readonly Spending[], now: number): Promise<readonly number[]>
}

/** State that outlives a request and that several nodes may share. */
export interface ServiceStore {
  readonly apps: AppStore
  readonly usage: UsageStore
  readonly rates: RateStore
  /** Writes unwritten changes. */
  close(): Promise<void>
}

/** The store cannot be read or written. The message contains nothing of its content. */
export class StoreError extends Error {
  override name = 'StoreError'
  /** The store cannot be reached; its content may be intact. */
  readonly isAway: boolean

  constructor(message: string, isAway = false) {
    super(message)
    this.isAway = isAway
  }
}
