import { ReplyError } from 'ioredis'

/** A command failed. The message contains neither command nor content. */
export class RedisError extends Error {
  override name = 'RedisError'
  /** The server cannot be reached or does not work; otherwise it refused this command, e.g. because of the type of a key. */
  readonly isAway: boolean
  readonly reason: string

  constructor(isAway: boolean, reason: string) {
    super(isAway ? `Redis is away (${reason})` : `Redis refused a command (${reason})`)
    this.isAway = isAway
    this.reason = reason
  }
}

/** Kinds of errors that are caused by the state of the server and not by the command. */
const conditions: readonly string[] = [
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOAUTH',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'WRONGPASS',
]

/** Converts an error of the client library. Its text is dropped, because it may contain commands and content. */
export function failureOf(error: unknown): RedisError {
  if (error instanceof RedisError) return error
  // In the protocol, the first word of an error is its kind.
  if (error instanceof ReplyError) {
    const kind = /^[A-Z]+\b/.exec((error as Error).message)?.[0] ?? 'ERR'
    return new RedisError(conditions.includes(kind), kind)
  }
  const { code } = error as NodeJS.ErrnoException
  return new RedisError(true, typeof code === 'string' ? code : 'no answer')
}
