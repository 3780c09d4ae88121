import type { Addon } from '../native/bindings.ts'
import { headCursor, movementSince, pendingSince } from '../native/feed.ts'
import { Flight } from '../rpc/flight.ts'
import type { FilterSource } from './source.ts'

/** Blocks that one poll of a filter passes at most; the next one goes on from there. */
const blocksPerPoll = 10_000

/** The chain as filters read it, through the addon. */
export function nativeSource(native: Addon, timeoutMs: number, minesBeforePoll: boolean): FilterSource {
  const newFlight = () => new Flight(timeoutMs, (ticket) => native.cancelTicket(ticket))
  return {
    head: () => headCursor(native),
    movementSince: (cursor) => movementSince(native, cursor, blocksPerPoll),
    pendingSince: (position) => pendingSince(native, position),
    pendingPosition: () => native.pendingPosition(),
    // This thread serves the polls of all workers: nothing is searched on it.
    logs: async (filter) =>
      newFlight().run((deadlineMs, ticket) => native.ethGetLogs(filter, deadlineMs, ticket, false)),
    removedLogs: async (blocks, filter) => native.logsOfBlocks(JSON.stringify(blocks), filter, true),
    beforePoll: async () => {
      if (minesBeforePoll) await newFlight().run((deadlineMs, ticket) => native.evmMine(1, -1, deadlineMs, ticket))
    },
  }
}
