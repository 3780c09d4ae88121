import { ReplyError } from 'ioredis'

/** A command was not done. Neither command nor content are in it. */
export class RedisError extends Error {
  override name = 'RedisError'
  /** The server cannot be reached or does no work; otherwise it refused this command, e.g. for the type of a key. */
  readonly isAway: boolean
  readonly reason: string

  constructor(isAway: boolean, reason: string) {
    super(isAway ? `Redis is away (${reason})` : `Redis refused a command (${reason})`)
    this.isAway = isAway
    this.reason = reason
  }
}

/** Refusals that are about the server's state and not about the command. */
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

/** What an error of the client library means; its text, which may hold commands and content, stays behind. */
export function failureOf(error: unknown): RedisError {
  if (error instanceof RedisError) return error
  // The protocol has the kind of an error as its first word.
  if (error instanceof ReplyError) {
    const kind = /^[A-Z]+\b/.exec((error as Error).message)?.[0] ?? 'ERR'
    return new RedisError(conditions.includes(kind), kind)
  }
  const { code } = error as NodeJS.ErrnoException
  return new RedisError(true, typeof code === 'string' ? code : 'no answer')
}
