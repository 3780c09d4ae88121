import type { Addon } from '../native/bindings.ts'
import { headCursor, movementSince, pendingSince } from '../native/feed.ts'
import type { MatchingLog, SubscriptionSource } from './source.ts'

/** Chain of the addon as a source of subscriptions. */
export function nativeSource(native: Addon): SubscriptionSource {
  return {
    head: () => headCursor(native),
    movementSince: (cursor, most) => movementSince(native, cursor, most),
    pendingPosition: () => native.pendingPosition(),
    pendingSince: (position) => pendingSince(native, position),
    header: (hash) => native.headOfBlock(hash),
    matchingLogs: (hash, criteria, isRemoved) =>
      JSON.parse(native.matchingLogs(hash, criteria, isRemoved)) as MatchingLog[],
    transaction: (hash) => String(native.ethGetTransactionByHash(hash)),
    onHead: (callback) => native.onHead(callback),
    onPending: (callback) => native.onPending(callback),
  }
}
