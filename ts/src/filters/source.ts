import type { Cursor, Movement, PendingFeed } from '../native/feed.ts'
import type { Answer } from '../rpc/envelope.ts'

/** Chain as filters read it. */
export interface FilterSource {
  head(): Cursor
  /** Returns the height of the block of a tag. Throws RpcError if the settings refuse the tag. */
  taggedHeight(tag: string): number
  /** Returns the changes since a cursor, with at most `most` new blocks. */
  movementSince(cursor: Cursor, most?: number): Movement
  /** Returns the cursor on the main chain block of a height up to the head. */
  mainCursor(number: number): Cursor
  /** Returns the cursor on the last of some blocks beside the main chain, ascending from `fork` on. */
  branchCursor(fork: Cursor, hashes: readonly string[]): Cursor
  pendingSince(position: number): PendingFeed
  /** Returns the current position in the feed of pending transactions. */
  pendingPosition(): number
  /** Returns a JSON array of logs, of at most `maxBytes`; `filter` is JSON. The error names the range that fits. */
  logs(filter: string, maxBytes: number): Promise<Answer>
  /** Returns the logs of blocks that left the main chain, marked as removed, if they match `filter`. */
  removedLogs(blocks: readonly string[], filter: string, maxBytes: number): Promise<Answer>
  /** Called before a poll; mines a block if the settings say so. */
  beforePoll(): Promise<void>
}
