// Close codes and reasons (RFC 6455, 7.4). The texts are those of the reference where it has one.

export interface Closing {
  readonly code: number
  readonly reason: string
}

export const goingAway: Closing = { code: 1001, reason: 'Server is shutting down' }

/** The key or the token has expired, or the policy of the app has changed. */
export const notAuthenticated: Closing = { code: 1008, reason: 'Must be authenticated!' }

export function messageTooLarge(limitBytes: number): Closing {
  return { code: 1009, reason: `Max frame length of ${limitBytes} has been exceeded.` }
}

export function readsTooSlowly(limitBytes: number): Closing {
  return { code: 1013, reason: `More than ${limitBytes} bytes wait to be read` }
}

/** All clients together have left too much unread, and this connection holds a part of it. */
export const allReadTooSlowly: Closing = { code: 1013, reason: 'Too much waits to be read by all clients' }
