import type { Addon } from './bindings.ts'

// Changes of the chain and the pool since a position.

/** Last block that was read. */
export interface Cursor {
  readonly number: number
  readonly hash: string
}

/** Changes of the main chain since a cursor. */
export interface Movement {
  /** Blocks that joined the main chain, ascending. */
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

/** Transaction of the pool that a block left out. */
export interface LeftOut {
  readonly hash: string
  readonly from: string
  readonly nonce: number
  /** Text for people. */
  readonly reason: string
  /** Whether it was removed from the pool. */
  readonly isDropped: boolean
}

export function headCursor(native: Pick<Addon, 'headCursor'>): Cursor {
  return JSON.parse(native.headCursor()) as Cursor
}

/** Reads the changes since a cursor, at most `most` new blocks; the returned cursor is the start of the next read. */
export function movementSince(native: Addon, { number, hash }: Cursor, most: number): Movement {
  return JSON.parse(native.mainHashesSince(number, hash, most)) as Movement
}

export function pendingSince(native: Addon, position: number): PendingFeed {
  return JSON.parse(native.pendingHashesSince(position)) as PendingFeed
}

/** Reads the transactions that blocks have left out since the last call. */
export function leftOut(native: Addon): readonly LeftOut[] {
  return JSON.parse(native.leftOut()) as readonly LeftOut[]
}
