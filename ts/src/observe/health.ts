import type { NodeFigures } from './nodeFigures.ts'

/** What the node says about itself, as far as its health depends on it. */
export type HealthFigures = Pick<NodeFigures, 'number' | 'hash' | 'timestamp' | 'highestBlock'> & {
  readonly store: Pick<NodeFigures['store'], 'isWriteStopped' | 'writeFault'>
}

/** From when on a node is not ready. 0: not looked at. */
export interface HealthLimits {
  readonly maxHeadAgeSeconds: number
  readonly maxLagBlocks: number
  /** With an old head, a node without peers says that nothing else will bring blocks. */
  readonly needsPeers: boolean
}

/** How the store is that nodes share. */
export interface StoreHealth {
  readonly isUp: boolean
  /** Since when it is so, in milliseconds since 1970. */
  readonly since: number
  /** Why it is away, in a word; empty while it is not. */
  readonly reason: string
  /** What becomes of requests with a key while it is away. */
  readonly whenAway: 'open' | 'closed'
}

export interface Health {
  readonly live: true
  readonly ready: boolean
  readonly head: { readonly number: number; readonly hash: string; readonly ageSeconds: number } | null
  readonly lagBlocks: number | null
  /** Null when nothing is shared. `since` is a time in ISO 8601. */
  readonly store: {
    readonly status: 'up' | 'away'
    readonly since: string
    readonly whenAway: 'open' | 'closed'
    readonly reason: string
  } | null
  /** Why it is not ready, in words. */
  readonly reasons: readonly string[]
}

/** Judges a node. `figures` is undefined when no node is open, `sharedStore` when it keeps everything itself. */
export function judgeHealth(
  figures: HealthFigures | undefined,
  limits: HealthLimits,
  nowMs: number,
  isEnding: boolean,
  sharedStore?: StoreHealth,
): Health {
  const reasons: string[] = []
  if (isEnding) reasons.push('the node is shutting down')
  if (figures === undefined) {
    reasons.push('the chain is not open')
    return health(reasons, null, null, sharedStore)
  }
  const { number, hash, timestamp, highestBlock, store } = figures
  // Blocks may carry a time a little ahead of the clock.
  const ageSeconds = Math.max(0, Math.floor(nowMs / 1000) - timestamp)
  const lagBlocks = Math.max(0, highestBlock - number)
  const { maxHeadAgeSeconds, maxLagBlocks, needsPeers } = limits
  if (maxHeadAgeSeconds > 0 && ageSeconds > maxHeadAgeSeconds) {
    if (needsPeers) reasons.push(withoutPeers)
    reasons.push(`the head is ${ageSeconds} s old; at most ${maxHeadAgeSeconds} s are allowed`)
  }
  if (maxLagBlocks > 0 && lagBlocks > maxLagBlocks) {
    reasons.push(`the head is ${lagBlocks} blocks behind the highest block; at most ${maxLagBlocks} are allowed`)
  }
  if (store.writeFault !== null) reasons.push(`the node cannot write: ${store.writeFault}`)
  if (store.isWriteStopped) reasons.push('the database takes no writes until it has merged its files')
  if (sharedStore?.isUp === false && sharedStore.whenAway === 'closed') {
    reasons.push(`the store that nodes share is away (${sharedStore.reason})`)
  }
  return health(reasons, { number, hash, ageSeconds }, lagBlocks, sharedStore)
}

/** No version of this node has had peers so far. */
const withoutPeers =
  'there are no peers: blocks come from rhizome import or from merged mining only; health.maxHeadAgeSeconds = 0 makes the node ready all the same'

function health(
  reasons: readonly string[],
  head: Health['head'],
  lagBlocks: number | null,
  sharedStore: StoreHealth | undefined,
): Health {
  const store = sharedStore === undefined ? null : shown(sharedStore)
  return { live: true, ready: reasons.length === 0, head, lagBlocks, store, reasons }
}

function shown({ isUp, since, whenAway, reason }: StoreHealth): Health['store'] {
  return { status: isUp ? 'up' : 'away', since: new Date(since).toISOString(), whenAway, reason }
}
