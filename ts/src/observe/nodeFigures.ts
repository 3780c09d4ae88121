/** One lane of the threads that execute. */
interface LaneFigures {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
}

/** Look-ups since the start. */
interface CacheReads {
  readonly hits: number
  readonly misses: number
}

/** What the core measures about itself. */
export interface NodeFigures {
  readonly number: number
  readonly hash: string
  /** Of the head, in seconds. */
  readonly timestamp: number
  readonly highestBlock: number
  readonly pendingTransactions: number
  readonly queuedTransactions: number
  readonly lanes: Readonly<Record<'pool' | 'trace', LaneFigures>>
  /** Finished answers; blocks, receipts and long values as they are stored. */
  readonly caches: Readonly<Record<'answers' | 'blocks' | 'receipts' | 'values', CacheReads>>
  readonly store: {
    readonly blockCacheBytes: number
    readonly valueCacheBytes: number
    readonly writeBufferBytes: number
    readonly fileBytes: number
    readonly compactionBytes: number
    /** The database is behind with merging its files. */
    readonly isWriteStopped: boolean
    /** Why the disk refuses writes; null while it takes them. */
    readonly writeFault: string | null
  }
}
