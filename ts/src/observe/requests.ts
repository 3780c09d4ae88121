import type { Logger } from './log.ts'

/** What one finished request looked like. `defect` is the reason of an internal error, or why nothing can be written. */
export interface FinishedRequest {
  readonly method: string
  readonly elapsedMs: number
  readonly errorCode: number | undefined
  readonly defect: unknown
  /** Its id and the app that it is answered for; absent when no request has caused it. */
  readonly request?: { readonly id: string; readonly caller?: { readonly app: string } | undefined }
}

/** The code of a request that is refused because the disk is: `code.unwritable` of `rpc/errors.ts`. */
const unwritable = -32002

/** Callers may send names of any length. */
const longestName = 64

/**
 * Logs requests: defects always, slow ones as warnings, all others at debug level. `request` is the name of the request,
 * which its answer has, too, when it failed. Parameters and paths are never logged: they may hold keys. `settings` are looked at each time.
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
