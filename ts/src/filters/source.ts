import type { Cursor, Movement, PendingFeed } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'

/** Chain as filters read it. */
export interface FilterSource {
  head(): Cursor
  movementSince(cursor: Cursor): Movement
  pendingSince(position: number): PendingFeed
  /** Returns the current position in the feed of pending transactions. */
  pendingPosition(): number
  /** Returns a JSON array of logs; `filter` is JSON. */
  logs(filter: string): Promise<Answer>
  /** Returns the logs of blocks that left the main chain, marked as removed, if they match `filter`. */
  removedLogs(blocks: readonly string[], filter: string): Promise<Answer>
  /** Called before a poll; mines a block if the settings say so. */
  beforePoll(): Promise<void>
}
