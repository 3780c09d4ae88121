import type { Addon } from './bindings.ts'

/** One lane of the threads that execute. */
export interface LaneFigures {
  readonly threads: number
  readonly waiting: number
  readonly running: number
  readonly refused: number
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
  readonly store: {
    readonly blockCacheBytes: number
    readonly valueCacheBytes: number
    readonly writeBufferBytes: number
    readonly fileBytes: number
    readonly compactionBytes: number
    readonly isWriteStopped: boolean
  }
}

/** Undefined when no node is open. */
export function nodeFigures(native: Addon): NodeFigures | undefined {
  try {
    return JSON.parse(native.nodeFigures()) as NodeFigures
  } catch {
    return undefined
  }
}
