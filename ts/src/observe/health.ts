import type { FleetFigures, NetworkFigures, NodeFigures, SyncFigures } from './nodeFigures.ts'

/** The figures of the node that its health depends on. */
export type HealthFigures = Pick<NodeFigures, 'number' | 'hash' | 'timestamp' | 'highestBlock'> & {
  readonly store: Pick<NodeFigures['store'], 'isWriteStopped' | 'writeFault'>
  readonly sync: Pick<SyncFigures, 'bestHeader' | 'failure'> | null
  readonly network: Pick<NetworkFigures, 'peers' | 'stalledSeconds'> | null
  readonly fleet: Pick<FleetFigures, 'role' | 'isConnected' | 'isBehind' | 'failure' | 'failingSeconds'> | null
}

/** Limits beyond which a node is not ready. 0: not checked. */
export interface HealthLimits {
  readonly maxHeadAgeSeconds: number
  readonly maxLagBlocks: number
  readonly maxFleetFailureSeconds: number
  /** Whether the reason for an old head mentions that the node has no peers. */
  readonly needsPeers: boolean
}

/** State of the shared store. */
export interface StoreHealth {
  readonly isUp: boolean
  /** Start of this state, in milliseconds since 1970. */
  readonly since: number
  /** Why the store is away, in a word; empty while it is up. */
  readonly reason: string
  /** How requests with a key are treated while the store is away. */
  readonly whenAway: 'open' | 'closed'
}

export interface Health {
  readonly live: true
  readonly ready: boolean
  readonly head: { readonly number: number; readonly hash: string; readonly ageSeconds: number } | null
  readonly lagBlocks: number | null
  /** Seconds for which the head of a public network has not moved while peers are connected; null below 600. */
  readonly stalledSeconds: number | null
  /** The shared store; null if there is none. `since` is in ISO 8601. */
  readonly store: {
    readonly status: 'up' | 'away'
    readonly since: string
    readonly whenAway: 'open' | 'closed'
    readonly reason: string
  } | null
  /** The part of the node in a fleet; null without one. */
  readonly fleet: {
    readonly role: 'importer' | 'replica'
    readonly isConnected: boolean
    readonly failure: string | null
  } | null
  /** Why the node is not ready; empty if it is ready. */
  readonly reasons: readonly string[]
}

/** Computes the health of a node. `figures` is undefined while the chain is not open, `sharedStore` if there is none. */
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
    return health(reasons, null, null, null, sharedStore, null)
  }
  const { number, hash, timestamp, highestBlock, store, sync, network, fleet } = figures
  // The time of a block may be slightly ahead of the clock.
  const ageSeconds = Math.max(0, Math.floor(nowMs / 1000) - timestamp)
  const lagBlocks = Math.max(0, highestBlock - number, (sync?.bestHeader ?? 0) - number)
  const stalledSeconds = network?.stalledSeconds ?? null
  const { maxHeadAgeSeconds, maxLagBlocks, needsPeers } = limits
  if (maxHeadAgeSeconds > 0 && ageSeconds > maxHeadAgeSeconds) {
    if (network === null && needsPeers) reasons.push(withoutPeers)
    if (network !== null && network.peers.in + network.peers.out === 0) reasons.push('there are no peers')
    if (stalledSeconds !== null)
      reasons.push(`the head has not moved for ${stalledSeconds} s although peers are connected`)
    reasons.push(`the head is ${ageSeconds} s old; at most ${maxHeadAgeSeconds} s are allowed`)
  }
  if (maxLagBlocks > 0 && lagBlocks > maxLagBlocks) {
    reasons.push(`the head is ${lagBlocks} blocks behind the highest block; at most ${maxLagBlocks} are allowed`)
  }
  if (store.writeFault !== null) reasons.push(`the node cannot write: ${store.writeFault}`)
  if (store.isWriteStopped) reasons.push('the database accepts no writes until its compaction has caught up')
  if (typeof sync?.failure === 'string') reasons.push(`the synchronization has stopped (${sync.failure})`)
  reasons.push(...fleetReasons(fleet, limits))
  if (sharedStore?.isUp === false && sharedStore.whenAway === 'closed') {
    reasons.push(`the shared store is away (${sharedStore.reason})`)
  }
  return health(reasons, { number, hash, ageSeconds }, lagBlocks, stalledSeconds, sharedStore, fleet)
}

/** Returns why a replica should get no requests. An importer serves without its fleet. */
function fleetReasons(fleet: HealthFigures['fleet'], { maxFleetFailureSeconds: most }: HealthLimits): string[] {
  if (fleet?.role !== 'replica') return []
  const { isBehind, failure, failingSeconds } = fleet
  return [
    ...(isBehind ? ['the best head of the fleet has been missing for more than 1 s, or since the start'] : []),
    ...(most > 0 && failure !== null && failingSeconds > most
      ? [`the node has been cut off from its fleet for ${failingSeconds} s; at most ${most} s are allowed (${failure})`]
      : []),
  ]
}

const withoutPeers =
  'the node runs without peers: blocks come only from rhizome import or from merged mining; health.maxHeadAgeSeconds = 0 turns this check off'

function health(
  reasons: readonly string[],
  head: Health['head'],
  lagBlocks: number | null,
  stalledSeconds: number | null,
  sharedStore: StoreHealth | undefined,
  part: HealthFigures['fleet'],
): Health {
  const store = sharedStore === undefined ? null : shown(sharedStore)
  const fleet = part === null ? null : { role: part.role, isConnected: part.isConnected, failure: part.failure }
  return { live: true, ready: reasons.length === 0, head, lagBlocks, stalledSeconds, store, fleet, reasons }
}

function shown({ isUp, since, whenAway, reason }: StoreHealth): Health['store'] {
  return { status: isUp ? 'up' : 'away', since: new Date(since).toISOString(), whenAway, reason }
}
