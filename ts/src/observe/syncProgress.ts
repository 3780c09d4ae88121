import type { OlderFigures, StateFigures, SyncFigures } from './nodeFigures.ts'

/** Stage of a synchronization. `state` counts bytes of the state that is downloaded. */
export interface SyncStage {
  readonly stage: 'headers' | 'state' | 'bodies' | 'execution'
  /** Block that the stage has reached, or bytes. */
  readonly block: number
  /** Block that the stage will reach as far as is known, or bytes; 0 while they are unknown. */
  readonly target: number
  readonly perSecond: number
}

/** Download of older blocks, downwards. */
export interface OlderProgress {
  /** Number of the lowest stored block above genesis. */
  readonly oldest: number
  readonly perSecond: number
  /** Null while it is unknown. */
  readonly secondsLeft: number | null
}

/** A synchronization with its stages in order, for page, terminal, log and metrics. */
export interface SyncProgress {
  readonly isSyncing: boolean
  readonly stages: readonly SyncStage[]
  /** Peers that are asked, and those of them that take no further message in this minute. */
  readonly peers: number
  readonly peersOverBudget: number
  readonly secondsBehind: number
  /** Until the state is there, while one is downloaded; otherwise until the head is the best block. Null while it is unknown. */
  readonly secondsLeft: number | null
  /** Null unless older blocks are missing. */
  readonly older: OlderProgress | null
  /** Failure of this node that stopped the synchronization. */
  readonly failure: string | null
}

/** Computes the stages. The block of `bodies` counts bodies that wait for an earlier one. */
export function syncProgress(figures: SyncFigures): SyncProgress {
  const { head, bestHeader, claimed, ready, importing, blocksPerSecond } = figures
  const { isSyncing, peers, peersOverBudget, secondsBehind, failure, state, older } = figures
  const highest = Math.max(bestHeader, claimed)
  const left = state === null ? highest - head : state.totalBytes - state.bytes
  const perSecond = state === null ? blocksPerSecond : state.bytesPerSecond
  return {
    isSyncing,
    stages: [
      { stage: 'headers', block: bestHeader, target: highest, perSecond: figures.headersPerSecond },
      ...(state === null ? [] : [stateStage(state)]),
      { stage: 'bodies', block: head + importing + ready, target: bestHeader, perSecond: figures.bodiesPerSecond },
      { stage: 'execution', block: head, target: bestHeader, perSecond: blocksPerSecond },
    ],
    peers,
    peersOverBudget,
    secondsBehind,
    secondsLeft: perSecond === 0 || state?.totalBytes === 0 ? null : Math.ceil(left / perSecond),
    older: older === null ? null : olderProgress(older),
    failure,
  }
}

function olderProgress({ oldest, blocksPerSecond }: OlderFigures): OlderProgress {
  const secondsLeft = blocksPerSecond === 0 ? null : Math.ceil((oldest - 1) / blocksPerSecond)
  return { oldest, perSecond: blocksPerSecond, secondsLeft }
}

function stateStage({ bytes, totalBytes, bytesPerSecond }: StateFigures): SyncStage {
  return { stage: 'state', block: bytes, target: totalBytes, perSecond: bytesPerSecond }
}
