import { type Static, Type } from 'typebox'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'

// What a filter is, as plain data: it can be kept anywhere and polled at any node of the same chain.

const closed = { additionalProperties: false }
const hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' })
const height = Type.Integer({ minimum: 0 })

/** The block that a caller has seen last. */
const cursor = Type.Object(
  {
    number: height,
    hash,
    /** The hashes of some blocks below it, ascending: where a node that never had it goes on from. */
    trail: Type.Optional(Type.Array(hash)),
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
    /** Null: no end. */
    to: Type.Union([height, Type.Null()]),
  },
  closed,
)
/** Null until the first poll, which also brings the logs that were there before. */
export const logSeenSchema = Type.Union([cursor, Type.Null()])

export const blockSchema = Type.Object({ kind: Type.Literal('block'), installed: cursor }, closed)
export const blockSeenSchema = cursor

export const pendingSchema = Type.Object({ kind: Type.Literal('pending') }, closed)
/** By node: pools are not shared, so each has its own position in its own feed. */
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

/** What never changes of a filter. */
export type Filter = LogFilterData | BlockFilterData | PendingFilterData

export interface StoredFilter {
  readonly filter: Filter
  /** How far its callers have read, as JSON: a cursor, or positions by node. */
  readonly seen: string
}

/** Where installed filters are kept, and forgotten when nobody asks for them for too long. */
export interface FilterStore {
  /** Returns the new id: 0x and hex digits that cannot be guessed. Throws RpcError when `client` or all have too many. */
  add(filter: StoredFilter, client: string): Promise<string>
  /** Undefined when it does not exist or has expired; otherwise its time starts anew. */
  find(id: string): Promise<StoredFilter | undefined>
  /** Replaces `seen` when it is still `from`. False: somebody else was faster, or the filter is gone. */
  advance(id: string, from: string, to: string): Promise<boolean>
  /** Whether it existed. */
  remove(id: string): Promise<boolean>
  /** How many there are. */
  count(): Promise<number>
}

export interface FilterLimits {
  readonly expiryMs: number
  readonly maximum: number
}
