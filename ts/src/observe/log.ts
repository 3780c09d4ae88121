import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Creates a logger that writes JSON lines to standard error. Standard output is for banners and data. */
export function createLogger(level: LogLevel, thread: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
  return pino({ level, base: { thread }, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
