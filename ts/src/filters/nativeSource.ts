import type { Addon } from '../native/bindings.ts'
import { Flight } from '../rpc/flight.ts'
import type { Cursor, FilterSource, Movement, PendingFeed } from './source.ts'

/** The chain as filters read it, through the addon. */
export function nativeSource(native: Addon, timeoutMs: number, minesBeforePoll: boolean): FilterSource {
  const newFlight = () => new Flight(timeoutMs, (ticket) => native.cancelTicket(ticket))
  return {
    head: () => JSON.parse(native.headCursor()) as Cursor,
    movementSince: ({ number, hash }) => JSON.parse(native.mainHashesSince(number, hash)) as Movement,
    pendingSince: (position) => JSON.parse(native.pendingHashesSince(position)) as PendingFeed,
    pendingPosition: () => native.pendingPosition(),
    logs: (filter) => newFlight().run((deadlineMs, ticket) => native.ethGetLogs(filter, deadlineMs, ticket)),
    removedLogs: async (blocks, filter) => native.logsOfBlocks(JSON.stringify(blocks), filter, true),
    beforePoll: async () => {
      if (minesBeforePoll) await newFlight().run((deadlineMs, ticket) => native.evmMine(deadlineMs, ticket))
    },
  }
}
