import type { Logger } from './log.ts'

/** A finished request. `defect` is the cause of an internal error or of a failed write. */
export interface FinishedRequest {
  readonly method: string
  readonly elapsedMs: number
  readonly errorCode: number | undefined
  readonly defect: unknown
  /** The id of the request and its app; absent for work that no request has caused. */
  readonly request?: { readonly id: string; readonly caller?: { readonly app: string } | undefined }
}

/** Error code of a request that failed because the disk accepts no writes: `code.unwritable` of `rpc/errors.ts`. */
const unwritable = -32002

/** Longest logged method name: callers may send names of any length. */
const longestName = 64

/**
 * Returns a function that logs requests: defects as errors, slow requests as warnings, all others at debug level. The key
 * `request` is the id that a failed request also has in its answer. Parameters and paths are never logged, because they
 * may contain keys. `settings` may change between calls.
 */
export function requestLog(logger: Logger, settings: { readonly slowMs: number }): (request: FinishedRequest) => void {
  return ({ method: name, elapsedMs, errorCode, defect, request: named }) => {
    const isSlow = elapsedMs >= settings.slowMs
    if (defect === undefined && !isSlow && !logger.isLevelEnabled('debug')) return
    const method = name.slice(0, longestName)
    const request = named?.id
    if (errorCode === unwritable) {
      logger.error({ request, method, reason: describe(defect) }, 'the node cannot write')
    } else if (defect !== undefined) {
      logger.error({ request, method, defect: describe(defect) }, 'internal error')
    } else if (isSlow) {
      logger.warn({ request, method, elapsedMs: Math.round(elapsedMs), errorCode }, 'slow request')
    } else {
      logger.debug({ request, method, elapsedMs: Number(elapsedMs.toFixed(3)), errorCode }, 'request')
    }
  }
}

function describe(defect: unknown): string {
  return defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)
}
