import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Log lines as JSON on standard error: standard output belongs to banners and data. */
export function createLogger(level: LogLevel, thread: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
  return pino({ level, base: { thread }, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
