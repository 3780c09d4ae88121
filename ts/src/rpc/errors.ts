/** All error codes of this server. Messages repeat those of the reference, because tools match on them. */
export const code = {
  /** The body is not JSON. */
  parseError: -32700,
  /** The envelope is malformed, the block of a state read does not exist, or access was denied. */
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** Defect of this node only. Always logged. */
  internal: -32603,
  /** A filter id that does not exist or has expired. */
  notFound: -32000,
  /** The block of a cursor of a change feed is not stored. */
  notStored: -32001,
  /** The disk of this node rejects writes. Reads still work, and the same request may succeed later. */
  unwritable: -32002,
  /** Too many requests or filters, server overloaded. */
  limitReached: -32005,
  /** The answer is too large or takes too long. */
  limitExceeded: -32011,
  /** A log search finds too much. */
  logLimitExceeded: -32012,
} as const

/** Error that becomes the `error` member of an answer. Code above the addon throws no other kind. */
export class RpcError extends Error {
  readonly code: number
  /** `0x` bytes that a reverted execution returned, or an object with which a program can correct its request. */
  readonly data: unknown
  /** Location of the fault and expected value, e.g. `call.gas: expected ...`. Omitted if the texts of the reference are configured. */
  hint: string | undefined
  /** HTTP status if this is the whole answer and the request itself is valid: access, limits, overload. */
  httpStatus: number | undefined
  /** Seconds after which a retry makes sense. */
  retryAfterSeconds: number | undefined
  /** Internal failure, for the log only. */
  defect: string | undefined
  /** Class of a late fault of a parameter; undefined for faults of form. See `refuseLate`. */
  shows: 'in use' | 'only here' | undefined

  constructor(code: number, message: string, data?: unknown, hint?: string) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
    this.hint = hint
    this.shows = undefined
  }
}

export function invalidParams(message: string, hint?: string): RpcError {
  return new RpcError(code.invalidParams, message, undefined, hint)
}

export function invalidRequest(message = 'invalid request', hint?: string): RpcError {
  return new RpcError(code.invalidRequest, message, undefined, hint)
}

/** Returns the error for a limit of a caller or of the node. */
export function limitReached(message: string): RpcError {
  return new RpcError(code.limitReached, message)
}

/** Returns the error for too much load. */
export function overloaded(): RpcError {
  return refusedFor(limitReached('Server overloaded'), 503, 1)
}

/** Returns the error for a caller above its rate or its number of concurrent requests. */
export function tooManyRequests(retryAfterSeconds: number): RpcError {
  return refusedFor(limitReached('Too many requests'), 429, retryAfterSeconds)
}

/** Returns the error for a caller above its quota of a day or a month. */
export function quotaExceeded(retryAfterSeconds: number): RpcError {
  return refusedFor(limitReached('Quota exceeded'), 429, retryAfterSeconds)
}

/** Returns the error for a method that this caller must not call. */
export function methodNotAllowed(method: string): RpcError {
  return refusedFor(methodNotAvailable(method), 403)
}

/** Returns the error for a contract that this caller must not use. */
export function contractNotAllowed(): RpcError {
  return refusedFor(invalidRequest('Contract not allowed'), 403)
}

function refusedFor(error: RpcError, httpStatus: number, retryAfterSeconds?: number): RpcError {
  error.httpStatus = httpStatus
  error.retryAfterSeconds = retryAfterSeconds
  return error
}

/** Returns the error for a service that is temporarily unavailable. */
export function unavailable(message: string): RpcError {
  return refusedFor(limitReached(message), 503, 1)
}

/** Returns the error for an unknown method. */
export function methodNotFound(): RpcError {
  return new RpcError(code.methodNotFound, 'method not found')
}

/** Returns the error for a known method that this node does not offer. */
export function methodNotAvailable(method: string): RpcError {
  return new RpcError(code.methodNotFound, `the method ${method} does not exist/is not available`)
}

export function internalError(): RpcError {
  return new RpcError(code.internal, 'Internal server error')
}

export function timeoutError(): RpcError {
  return new RpcError(code.limitExceeded, 'Execution has got timeout out.')
}

export function responseTooLarge(limitBytes: number): RpcError {
  return new RpcError(code.limitExceeded, `Response size limit of ${limitBytes} bytes exceeded`)
}

export function filterNotFound(): RpcError {
  return new RpcError(code.notFound, 'filter not found')
}
