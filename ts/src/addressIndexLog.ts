import type { Logger } from './observe/log.ts'

const everyMs = 10_000

/**
 * Logs every ten seconds how many blocks the address index still misses, or their inner calls if it has these, and its end. `missing`
 * returns their number; null if the index is switched off, undefined while the chain is not open. Returns a function that ends it.
 */
export function logAddressIndex(missing: () => number | null | undefined, logger: Pick<Logger, 'info'>): () => void {
  let wasMissing = false
  const timer = setInterval(() => {
    const blocks = missing() ?? 0
    if (blocks > 0) logger.info({ missingBlocks: blocks }, 'building the address index')
    else if (wasMissing) logger.info('the address index is complete')
    wasMissing = blocks > 0
  }, everyMs).unref()
  return () => clearInterval(timer)
}
