import type { Addon } from './bindings.ts'

// How the chain and the pool moved since somebody looked last.

/** A block that somebody has seen last. */
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

/** Transactions that became executable after a position in the feed. */
export interface PendingFeed {
  readonly hashes: readonly string[]
  readonly position: number
}

/** A transaction of the pool that a block left out. */
export interface LeftOut {
  readonly hash: string
  readonly from: string
  readonly nonce: number
  /** For people. */
  readonly reason: string
  /** Whether it has left the pool; otherwise it waits. */
  readonly isDropped: boolean
}

export function headCursor(native: Addon): Cursor {
  return JSON.parse(native.headCursor()) as Cursor
}

/** With more than `most` new blocks the cursor stands on the last of those named: the next question goes on from there. */
export function movementSince(native: Addon, { number, hash }: Cursor, most: number): Movement {
  return JSON.parse(native.mainHashesSince(number, hash, most)) as Movement
}

export function pendingSince(native: Addon, position: number): PendingFeed {
  return JSON.parse(native.pendingHashesSince(position)) as PendingFeed
}

/** What came since the last question. */
export function leftOut(native: Addon): readonly LeftOut[] {
  return JSON.parse(native.leftOut()) as readonly LeftOut[]
}
