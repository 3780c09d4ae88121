import type { Answer } from '../rpc/envelope.ts'

/** A block that a filter has seen last. */
export interface Cursor {
  readonly number: number
  readonly hash: string
}

/** How the main chain moved since a cursor. */
export interface Movement {
  /** Blocks that became main, ascending. */
  readonly hashes: readonly string[]
  /** Blocks that left the main chain, from the highest down. */
  readonly removed: readonly string[]
  readonly cursor: Cursor
}

/** Transactions that became pending after a position in the feed. */
export interface PendingFeed {
  readonly hashes: readonly string[]
  readonly position: number
}

/** What filters read of the chain. */
export interface FilterSource {
  head(): Cursor
  movementSince(cursor: Cursor): Movement
  pendingSince(position: number): PendingFeed
  /** Position in the feed of pending transactions now. */
  pendingPosition(): number
  /** A JSON array of logs; `filter` is JSON. */
  logs(filter: string): Promise<Answer>
  /** The logs of blocks that left the main chain, marked as removed; those that match `filter`. */
  removedLogs(blocks: readonly string[], filter: string): Promise<Answer>
  /** Called before a poll; mines a block where that is asked for. */
  beforePoll(): Promise<void>
}
