import type { Addon } from '../native/bindings.ts'
import { headCursor, movementSince, pendingSince } from '../native/feed.ts'
import type { HeadChanges } from '../native/headChanges.ts'
import type { BlockLog, SubscriptionSource, SyncNumbers } from './source.ts'

/** Time for a block template. */
const workLimitMs = 5000
/** Gas limits the logs of a block. */
const maxLogBytes = Number.MAX_SAFE_INTEGER

/** Chain of the addon as a source of subscriptions. */
export function nativeSource(native: Addon, heads: HeadChanges): SubscriptionSource {
  return {
    head: () => headCursor(native),
    movementSince: (cursor, most) => movementSince(native, cursor, most),
    pendingPosition: () => native.pendingPosition(),
    pendingSince: (position) => pendingSince(native, position),
    header: (hash) => native.headOfBlock(hash),
    logs: (hash, isRemoved) =>
      JSON.parse(String(native.logsOfBlocks(`["${hash}"]`, '{}', isRemoved, maxLogBytes))) as BlockLog[],
    transaction: (hash) => String(native.ethGetTransactionByHash(hash)),
    syncing: () => syncNumbers(String(native.ethSyncing())),
    work: async () => String(await native.mnrCurrentWork(workLimitMs, 0)),
    onHead: (callback) => heads.add(callback),
    onPending: (callback) => native.onPending(callback),
  }
}

/** Reads the result of `eth_syncing`. */
function syncNumbers(text: string): SyncNumbers | undefined {
  const status = JSON.parse(text) as false | Record<keyof SyncNumbers, string>
  if (status === false) return undefined
  const { startingBlock, currentBlock, highestBlock } = status
  return {
    startingBlock: Number(startingBlock),
    currentBlock: Number(currentBlock),
    highestBlock: Number(highestBlock),
  }
}
