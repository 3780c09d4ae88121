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
