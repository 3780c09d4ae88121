import type { Logger } from './observe/log.ts'
import type { NetworkFigures, SyncFigures } from './observe/nodeFigures.ts'
import { syncProgress } from './observe/syncProgress.ts'

const everyMs = 10_000
/** Interval of the message that there are no peers. */
const aloneMs = 60_000
/** Interval of the messages about a head that does not move. */
const stalledSeconds = 600
/** Interval of the messages about older blocks. */
const olderMs = 60_000

/** Figures of a node with a network; undefined while the chain is not open. */
export interface PeerFigures {
  readonly sync: SyncFigures | null
  readonly network: Pick<NetworkFigures, 'peers' | 'stalledSeconds' | 'knownNodes' | 'bans' | 'closed'> | null
}

/**
 * Logs the progress of a running synchronization every ten seconds, its end, a failure of this node that stops it, that no peer
 * delivers a state, new bans, every ten minutes that the head does not move, every minute how far older blocks are stored, and, if the node searches for peers, that there are none.
 * Returns a function that ends it.
 */
export function logSync(
  figures: () => PeerFigures | undefined,
  isSearching: boolean,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => void {
  let wasSyncing = false
  let failure: string | null = null
  let warnings = 0
  let banned = 0
  let hasGivenUp = false
  const timer = setInterval(() => {
    const { sync, network } = figures() ?? {}
    const now = sync ?? undefined
    if (now === undefined) return
    const seconds = network?.stalledSeconds ?? 0
    const due = Math.floor(seconds / stalledSeconds)
    if (due > warnings)
      logger.warn({ head: now.head, seconds, peers: network?.peers }, 'the head does not move; dialling further nodes')
    else if (due === 0 && warnings > 0) logger.info({ head: now.head }, 'the head moves again')
    warnings = due
    const bans = Object.values(network?.bans ?? {}).reduce((sum, count) => sum + count, 0)
    if (bans > banned) logger.info({ bans: network?.bans }, 'peers were banned')
    banned = bans
    if (now.hasGivenUpState && !hasGivenUp)
      logger.warn({ head: now.head }, 'no peer delivers the state; every block is executed')
    hasGivenUp = now.hasGivenUpState
    if (now.failure !== null && now.failure !== failure)
      logger.error({ failure: now.failure }, 'the synchronization has stopped; trying again')
    failure = now.failure
    if (now.isSyncing) logger.info(valuesOf(now), 'synchronizing')
    else if (wasSyncing) logger.info({ head: now.head }, 'synchronized')
    wasSyncing = now.isSyncing
  }, everyMs).unref()
  const alone = setInterval(() => {
    const { network, sync } = figures() ?? {}
    if (!isSearching || network === null || network === undefined) return
    const { peers, knownNodes, closed } = network
    if (peers.in + peers.out === 0)
      logger.warn({ head: sync?.head, knownNodes, closed }, 'no peers: still searching; serving what is stored')
  }, aloneMs).unref()
  let wasMissing = false
  const older = setInterval(() => {
    const sync = figures()?.sync
    if (sync === null || sync === undefined) return
    if (sync.older !== null) logger.info(syncProgress(sync).older, 'fetching older blocks')
    else if (wasMissing) logger.info({ head: sync.head }, 'all older blocks are stored')
    wasMissing = sync.older !== null
  }, olderMs).unref()
  return () => {
    clearInterval(timer)
    clearInterval(older)
    clearInterval(alone)
  }
}

function valuesOf(figures: SyncFigures) {
  const { head, bestHeader, claimed, blocksPerSecond, peers, peersOverBudget, state } = figures
  const { secondsLeft } = syncProgress(figures)
  const download = state === null ? {} : { state }
  return { head, bestHeader, claimed, ...download, blocksPerSecond, peers, peersOverBudget, secondsLeft }
}
