import type { Cursor, Movement, PendingFeed } from '../native/feed.ts'

/** Log as clients get it. */
export interface BlockLog {
  readonly address: string
  readonly topics: readonly string[]
}

/** Synchronization with other nodes: block numbers at its start, of the head, of the best known header. */
export interface SyncNumbers {
  readonly startingBlock: number
  readonly currentBlock: number
  readonly highestBlock: number
}

/** Chain as subscriptions read it. All reads are short enough for the thread of the worker. */
export interface SubscriptionSource {
  head(): Cursor
  movementSince(cursor: Cursor, most: number): Movement
  pendingPosition(): number
  pendingSince(position: number): PendingFeed
  /** Returns the header as JSON, `null` if the block was deleted. */
  header(hash: string): string
  /** Returns the logs of a block; those of a removed block in reverse order. */
  logs(hash: string, isRemoved: boolean): readonly BlockLog[]
  /** Returns the transaction as JSON, `null` if the pool dropped it. */
  transaction(hash: string): string
  /** Returns undefined while the node does not synchronize. */
  syncing(): SyncNumbers | undefined
  /** Returns the block template as JSON, in the form of mnr_getWork. */
  work(): Promise<string>
  /** Sets the callback for changes of the head. */
  onHead(callback: () => void): void
  /** Sets the callback for transactions that became executable. */
  onPending(callback: () => void): void
}
