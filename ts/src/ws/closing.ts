// Why this server ends a connection (RFC 6455 7.4). The words of the reference are kept where it has any.

export interface Closing {
  readonly code: number
  readonly reason: string
}

export const goingAway: Closing = { code: 1001, reason: 'Server is shutting down' }

/** The key or the token has ended, or what the app allows has changed. */
export const notAuthenticated: Closing = { code: 1008, reason: 'Must be authenticated!' }

export function messageTooLarge(limitBytes: number): Closing {
  return { code: 1009, reason: `Max frame length of ${limitBytes} has been exceeded.` }
}

export function readsTooSlowly(limitBytes: number): Closing {
  return { code: 1013, reason: `More than ${limitBytes} bytes wait to be read` }
}

/** The same of all clients together, and this one has a part in it. */
export const allReadTooSlowly: Closing = { code: 1013, reason: 'Too much waits to be read by all clients' }
