import { type Static, Type } from 'typebox'
import { limitReached, type RpcError } from '../rpc/errors.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'

// Filters as plain data: any store can hold them, and any node of the same chain can poll them.

const closed = { additionalProperties: false }
const hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' })
const height = Type.Integer({ minimum: 0 })

/** Last block that a poll returned. */
const cursor = Type.Object(
  {
    number: height,
    hash,
    /** Hashes of some blocks below it, ascending, for nodes that never had the block. */
    trail: Type.Optional(Type.Array(hash)),
    /** Number of logs of the block that the caller has, if not all. */
    logs: Type.Optional(height),
  },
  closed,
)

const bound = Type.Optional(Type.String())
const criteria = Type.Object(
  {
    fromBlock: bound,
    toBlock: bound,
    blockHash: bound,
    address: Type.Optional(Type.Array(Type.String())),
    topics: Type.Optional(Type.Array(Type.Union([Type.Null(), Type.Array(Type.String())]))),
  },
  closed,
)

export const logSchema = Type.Object(
  {
    kind: Type.Literal('log'),
    criteria,
    from: height,
    /** Null: unbounded. */
    to: Type.Union([height, Type.Null()]),
  },
  closed,
)
/** Null until the first poll if that also returns existing logs. */
export const logSeenSchema = Type.Union([cursor, Type.Null()])

export const blockSchema = Type.Object({ kind: Type.Literal('block'), installed: cursor }, closed)
export const blockSeenSchema = cursor

export const pendingSchema = Type.Object({ kind: Type.Literal('pending') }, closed)
/** Positions by node: each node has its own pool and feed. */
export const pendingSeenSchema = Type.Record(Type.String(), Type.Object({ installed: height, seen: height }, closed))

export interface LogFilterData {
  readonly kind: 'log'
  readonly criteria: LogFilter
  readonly from: number
  readonly to: number | null
}
export type BlockFilterData = Static<typeof blockSchema>
export type PendingFilterData = Static<typeof pendingSchema>
export type PendingSeen = Static<typeof pendingSeenSchema>

/** Immutable part of a filter. */
export type Filter = LogFilterData | BlockFilterData | PendingFilterData

export interface StoredFilter {
  readonly filter: Filter
  /** Progress of its polls as JSON: a cursor, or positions by node. */
  readonly seen: string
}

/** Store of installed filters. A filter that is not polled expires. */
export interface FilterStore {
  /** Returns the new id: 0x and hex digits that cannot be guessed. Throws RpcError if `client` or all have too many. */
  add(filter: StoredFilter, client: string): Promise<string>
  /** Returns a filter and renews it. Undefined if it does not exist or has expired. */
  find(id: string): Promise<StoredFilter | undefined>
  /** Replaces `seen` if it is still `from`. Returns false if another poll has replaced it, or the filter was removed. */
  advance(id: string, from: string, to: string): Promise<boolean>
  /** Returns whether the filter existed. */
  remove(id: string): Promise<boolean>
  /** Returns the number of filters. */
  count(): Promise<number>
}

export interface FilterLimits {
  readonly expiryMs: number
  /** Of all clients. One client may have half of it. */
  readonly maximum: number
}

/** Returns the error for too many filters: of all clients, or of one with its share. */
export function tooManyFilters(maximum: number, share?: number): RpcError {
  const limit = share === undefined ? `${maximum} are installed` : `${share} of ${maximum} are the most of one client`
  return limitReached(`Too many filters: ${limit}`)
}
