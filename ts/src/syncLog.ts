import type { Logger } from './observe/log.ts'
import type { SyncFigures } from './observe/nodeFigures.ts'

const everyMs = 10_000

/**
 * Logs the progress of a running synchronization every ten seconds, its end, and a failure of this node that stops it. Returns a
 * function that ends it.
 */
export function logSync(
  figures: () => SyncFigures | null | undefined,
  logger: Pick<Logger, 'info' | 'error'>,
): () => void {
  let wasSyncing = false
  let failure: string | null = null
  const timer = setInterval(() => {
    const now = figures()
    if (now === null || now === undefined) return
    if (now.failure !== null && now.failure !== failure)
      logger.error({ failure: now.failure }, 'the synchronization has stopped; trying again')
    failure = now.failure
    if (now.isSyncing) logger.info(progressOf(now), 'synchronizing')
    else if (wasSyncing) logger.info({ head: now.head }, 'synchronized')
    wasSyncing = now.isSyncing
  }, everyMs).unref()
  return () => clearInterval(timer)
}

function progressOf({ head, bestHeader, claimed, blocksPerSecond, peers, peersOverBudget }: SyncFigures) {
  const secondsLeft = blocksPerSecond === 0 ? null : Math.ceil((Math.max(bestHeader, claimed) - head) / blocksPerSecond)
  return { head, bestHeader, claimed, blocksPerSecond, peers, peersOverBudget, secondsLeft }
}
