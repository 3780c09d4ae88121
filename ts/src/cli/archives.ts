import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { createLogger } from '../observe/log.ts'

const reportMs = 10_000
const retryMs = 60_000

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
  const onProgress = (_error: Error | null, progress: string): void => {
    if (performance.now() - reportedMs < reportMs) return
    reportedMs = performance.now()
    const { number, hash } = JSON.parse(progress) as { number: number; hash: string }
    logger.info({ number, hash }, 'importing from archives')
  }
  for (;;) {
    try {
      const counts = await native.importArchives(archives.locations, archives.trust, onProgress)
      const { refused, ...imported } = JSON.parse(counts) as { refused: string[] }
      for (const reason of refused) logger.warn({ reason }, 'another archive was read instead')
      logger.info(imported, 'archives imported')
      return
    } catch (error) {
      logger.error({ reason: (error as Error).message, retrySeconds: retryMs / 1000 }, 'archives could not be imported')
    }
    await sleep(retryMs, undefined, { ref: false })
  }
}
