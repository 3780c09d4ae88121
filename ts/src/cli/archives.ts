import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { createLogger } from '../observe/log.ts'

const reportMs = 10_000
const retryMs = 60_000
/** Time without a block after which a warning is logged. */
const silentMs = 30_000

/** Archives that a serving node imports. */
export interface Archives {
  readonly locations: string[]
  /** Public key of the only accepted publisher; empty for any. */
  readonly trust: string
}

/** Imports archives while the node serves, and logs the progress. Tries again after a failure; the blocks before it stay. */
export async function importArchives(native: Addon, archives: Archives, level: Config['log']['level']): Promise<void> {
  const logger = createLogger(level, 'archive')
  let reportedMs = performance.now()
  const locations = archives.locations.map(withoutSecrets)
  const warn = () =>
    logger.warn({ locations, seconds: silentMs / 1000 }, 'no block comes from the archives; they are tried again')
  // Fires once until the next block.
  const silence = setTimeout(warn, silentMs).unref()
  const onProgress = (_error: Error | null, progress: string): void => {
    silence.refresh()
    if (performance.now() - reportedMs < reportMs) return
    reportedMs = performance.now()
    const { number, hash } = JSON.parse(progress) as { number: number; hash: string }
    logger.info({ number, hash }, 'importing from archives')
  }
  for (;;) {
    try {
      const counts = await native.importArchives(archives.locations, archives.trust, onProgress)
      clearTimeout(silence)
      const { refused, ...imported } = JSON.parse(counts) as { refused: string[]; last?: number | null }
      if (imported.last !== undefined) {
        logger.info(imported, 'the import from archives was stopped')
        return
      }
      for (const reason of refused) logger.warn({ reason }, 'another archive was read instead')
      logger.info(imported, 'archives imported')
      return
    } catch (error) {
      logger.error({ reason: (error as Error).message, retrySeconds: retryMs / 1000 }, 'archives could not be imported')
    }
    await sleep(retryMs, undefined, { ref: false })
  }
}

/** Returns a location without user, password and query. */
function withoutSecrets(location: string): string {
  return location.replace(/^([a-z0-9]+:\/\/)(?:[^/?#]*@)?([^?#]*).*$/i, '$1$2')
}
