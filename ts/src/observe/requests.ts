import type { Logger } from './log.ts'

/** What one finished request looked like. `defect` is the reason of an internal error. */
export interface FinishedRequest {
  readonly method: string
  readonly elapsedMs: number
  readonly errorCode: number | undefined
  readonly defect: unknown
}

let lastRequest = 0

/** Logs requests: defects always, slow ones as warnings, all others at debug level. Parameters and paths are never logged: they may hold keys. */
export function requestLog(logger: Logger, slowMs: number): (request: FinishedRequest) => void {
  return ({ method, elapsedMs, errorCode, defect }) => {
    if (defect !== undefined) {
      logger.error({ request: ++lastRequest, method, defect: describe(defect) }, 'internal error')
    } else if (elapsedMs >= slowMs) {
      logger.warn({ method, elapsedMs: Math.round(elapsedMs), errorCode }, 'slow request')
    } else if (logger.isLevelEnabled('debug')) {
      logger.debug({ method, elapsedMs: Number(elapsedMs.toFixed(3)), errorCode }, 'request')
    }
  }
}

function describe(defect: unknown): string {
  return defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)
}
