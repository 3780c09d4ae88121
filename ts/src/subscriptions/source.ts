import type { Cursor, Movement, PendingFeed } from '../native/feed.ts'

/** A log of a block, and the positions of the criteria that take it. */
export interface MatchingLog {
  readonly queries: readonly number[]
  readonly log: unknown
}

/** What subscriptions read of the chain. All of it is short enough to be read on the worker's own thread. */
export interface SubscriptionSource {
  head(): Cursor
  movementSince(cursor: Cursor, most: number): Movement
  pendingPosition(): number
  pendingSince(position: number): PendingFeed
  /** The header as JSON, `null` when the block was deleted meanwhile. */
  header(hash: string): string
  /** `criteria` is a JSON array. */
  matchingLogs(hash: string, criteria: string, isRemoved: boolean): readonly MatchingLog[]
  /** The transaction as JSON, `null` when the pool dropped it meanwhile. */
  transaction(hash: string): string
  /** Calls back after the head has changed; only the last callback counts. */
  onHead(callback: () => void): void
  /** Calls back after transactions became executable; only the last callback counts. */
  onPending(callback: () => void): void
}
