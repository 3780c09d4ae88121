import type { Logger } from './observe/log.ts'
import type { NodeFigures } from './observe/nodeFigures.ts'

const everyMs = 10_000

/** Logs each new failure of the work on the database that no caller waits for. Returns a function that ends it. */
export function logUpkeep(
  failures: () => NodeFigures['upkeep']['failures'] | undefined,
  logger: Pick<Logger, 'warn'>,
): () => void {
  let last: NodeFigures['upkeep']['failures'] = {}
  const timer = setInterval(() => {
    const current = failures() ?? {}
    for (const [task, reason] of Object.entries(current)) {
      if (last[task as keyof typeof last] !== reason) logger.warn({ task, reason }, 'work on the database failed')
    }
    last = current
  }, everyMs).unref()
  return () => clearInterval(timer)
}
