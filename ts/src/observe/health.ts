import type { NodeFigures } from './nodeFigures.ts'

/** What the node says about itself, as far as its health depends on it. */
export type HealthFigures = Pick<NodeFigures, 'number' | 'hash' | 'timestamp' | 'highestBlock'> & {
  readonly store: Pick<NodeFigures['store'], 'isWriteStopped'>
}

/** From when on a node is not ready. 0: not looked at. */
export interface HealthLimits {
  readonly maxHeadAgeSeconds: number
  readonly maxLagBlocks: number
}

export interface Health {
  readonly live: true
  readonly ready: boolean
  readonly head: { readonly number: number; readonly hash: string; readonly ageSeconds: number } | null
  readonly lagBlocks: number | null
  /** Why it is not ready, in words. */
  readonly reasons: readonly string[]
}

/** Judges a node. `figures` is undefined when no node is open. */
export function judgeHealth(
  figures: HealthFigures | undefined,
  limits: HealthLimits,
  nowMs: number,
  isEnding: boolean,
): Health {
  const reasons: string[] = []
  if (isEnding) reasons.push('the node is shutting down')
  if (figures === undefined) {
    reasons.push('the chain is not open')
    return health(reasons, null, null)
  }
  const { number, hash, timestamp, highestBlock, store } = figures
  // Blocks may carry a time a little ahead of the clock.
  const ageSeconds = Math.max(0, Math.floor(nowMs / 1000) - timestamp)
  const lagBlocks = Math.max(0, highestBlock - number)
  const { maxHeadAgeSeconds, maxLagBlocks } = limits
  if (maxHeadAgeSeconds > 0 && ageSeconds > maxHeadAgeSeconds) {
    reasons.push(`the head is ${ageSeconds} s old; at most ${maxHeadAgeSeconds} s are allowed`)
  }
  if (maxLagBlocks > 0 && lagBlocks > maxLagBlocks) {
    reasons.push(`the head is ${lagBlocks} blocks behind the highest block; at most ${maxLagBlocks} are allowed`)
  }
  if (store.isWriteStopped) reasons.push('the database takes no writes until it has merged its files')
  return health(reasons, { number, hash, ageSeconds }, lagBlocks)
}

function health(reasons: readonly string[], head: Health['head'], lagBlocks: number | null): Health {
  return { live: true, ready: reasons.length === 0, head, lagBlocks, reasons }
}
