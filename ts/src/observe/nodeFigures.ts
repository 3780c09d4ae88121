/** Statistics of an executor: a thread pool and its queue. */
interface ExecutorStats {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
}

/** Cache look-ups since the start. */
interface CacheReads {
  readonly hits: number
  readonly misses: number
}

/** Figures of the core. */
export interface NodeFigures {
  readonly number: number
  readonly hash: string
  /** Time of the head, in seconds since 1970. */
  readonly timestamp: number
  readonly highestBlock: number
  readonly pendingTransactions: number
  readonly queuedTransactions: number
  readonly lanes: Readonly<Record<'pool' | 'trace', ExecutorStats>>
  /** Caches of finished answers, and of stored blocks, receipts and long values. */
  readonly caches: Readonly<Record<'answers' | 'blocks' | 'receipts' | 'values', CacheReads>>
  readonly store: {
    readonly blockCacheBytes: number
    readonly valueCacheBytes: number
    readonly writeBufferBytes: number
    readonly fileBytes: number
    readonly compactionBytes: number
    /** The database accepts no writes until its compaction has caught up. */
    readonly isWriteStopped: boolean
    /** Why writes fail; null while they succeed. */
    readonly writeFault: string | null
  }
}
