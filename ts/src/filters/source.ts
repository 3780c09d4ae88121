import type { Cursor, Movement, PendingFeed } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'

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
