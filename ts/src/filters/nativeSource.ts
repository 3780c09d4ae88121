import type { Addon } from '../native/bindings.ts'
import { headCursor, movementSince, pendingSince } from '../native/feed.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import type { FilterSource } from './source.ts'

/** Maximum number of blocks that one poll of a filter covers. The next poll continues from there. */
const blocksPerPoll = 10_000

const noHash = `0x${'0'.repeat(64)}`

/** Chain of the addon as a source of filters. */
export function nativeSource(native: Addon, timeoutMs: () => number, minesBeforePoll: boolean): FilterSource {
  const newContext = () => new RequestContext(timeoutMs(), (token) => native.cancelExecution(token))
  return {
    head: () => headCursor(native),
    taggedHeight: (tag) => native.taggedHeight(tag),
    movementSince: (cursor, most = blocksPerPoll) => movementSince(native, cursor, most),
    // No block has this hash, so it counts as that of the main chain.
    mainCursor: (number) => movementSince(native, { number, hash: noHash }, 0).cursor,
    branchCursor: ({ number }, hashes) => ({ number: number + hashes.length, hash: hashes.at(-1) ?? noHash }),
    pendingSince: (position) => pendingSince(native, position),
    pendingPosition: () => native.pendingPosition(),
    // This thread serves the polls of all workers, so searches run in the pool.
    logs: async (filter, maxBytes) =>
      newContext().run((deadlineMs, token) => native.ethGetLogs(filter, maxBytes, deadlineMs, token, false)),
    removedLogs: async (blocks, filter, maxBytes) =>
      native.logsOfBlocks(JSON.stringify(blocks), filter, true, maxBytes),
    beforePoll: async () => {
      if (minesBeforePoll) await newContext().run((deadlineMs, token) => native.evmMine(1, -1, deadlineMs, token))
    },
  }
}
