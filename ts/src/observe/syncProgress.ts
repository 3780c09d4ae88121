import type { SyncFigures } from './nodeFigures.ts'

/** Stage of a synchronization. */
export interface SyncStage {
  readonly stage: 'headers' | 'bodies' | 'execution'
  /** Block that the stage has reached. */
  readonly block: number
  /** Block that the stage will reach as far as is known. */
  readonly target: number
  readonly perSecond: number
}

/** A synchronization with its stages in order, for page, terminal, log and metrics. */
export interface SyncProgress {
  readonly isSyncing: boolean
  readonly stages: readonly SyncStage[]
  /** Peers that are asked, and those of them that take no further message in this minute. */
  readonly peers: number
  readonly peersOverBudget: number
  readonly secondsBehind: number
  /** Null while no block was executed. */
  readonly secondsLeft: number | null
  /** Failure of this node that stopped the synchronization. */
  readonly failure: string | null
}

/** Computes the stages. The block of `bodies` counts bodies that wait for an earlier one. */
export function syncProgress(figures: SyncFigures): SyncProgress {
  const { head, bestHeader, claimed, ready, importing, blocksPerSecond } = figures
  const { isSyncing, peers, peersOverBudget, secondsBehind, failure } = figures
  const highest = Math.max(bestHeader, claimed)
  return {
    isSyncing,
    stages: [
      { stage: 'headers', block: bestHeader, target: highest, perSecond: figures.headersPerSecond },
      { stage: 'bodies', block: head + importing + ready, target: bestHeader, perSecond: figures.bodiesPerSecond },
      { stage: 'execution', block: head, target: bestHeader, perSecond: blocksPerSecond },
    ],
    peers,
    peersOverBudget,
    secondsBehind,
    secondsLeft: blocksPerSecond === 0 ? null : Math.ceil((highest - head) / blocksPerSecond),
    failure,
  }
}
