import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** Log lines as JSON on standard error: standard output belongs to banners and data. */
export function createLogger(level: LogLevel, thread: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
  return pino({ level, base: { thread }, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
