/** Every code this server sends. The wording of the reference is kept: tools match on it. */
export const code = {
  /** The body is not JSON. */
  parseError: -32700,
  /** The envelope is wrong, a block that a state read names does not exist, or access was refused. */
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** A defect of this node, nothing else. Always logged. */
  internal: -32603,
  /** A filter id that does not exist or has expired. */
  notFound: -32000,
  /** The disk of this node refuses to be written: reads go on, and the same may succeed later. */
  unwritable: -32002,
  /** Too many requests or filters, server overloaded. */
  limitReached: -32005,
  /** Size of the answer or time for it. */
  limitExceeded: -32011,
} as const

/** The only kind of error that the code above the addon throws: it becomes the `error` member of an answer. */
export class RpcError extends Error {
  readonly code: number
  /** `0x` bytes that a reverted execution returned, or an object that helps a program to ask again. */
  readonly data: unknown
  /** What the caller has to look at, e.g. `call.gas: expected ...`. Shown unless the plain texts of the reference are asked for. */
  hint: string | undefined
  /** HTTP status when this is the whole answer and the fault is not in the request: access, limits, overload. */
  httpStatus: number | undefined
  /** From when on it makes sense to ask again. */
  retryAfterSeconds: number | undefined
  /** What went wrong inside the node, for the log only. */
  defect: string | undefined
  /** When a fault of a parameter shows, where that is not while its form is read. */
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

/** More of something than one caller, or the node, may have at a time. */
export function limitReached(message: string): RpcError {
  return new RpcError(code.limitReached, message)
}

/** More is asked for than the node can do at a time. */
export function overloaded(): RpcError {
  return refusedFor(limitReached('Server overloaded'), 503, 1)
}

/** A caller spends faster than he may, or has too much running. */
export function tooManyRequests(retryAfterSeconds: number): RpcError {
  return refusedFor(limitReached('Too many requests'), 429, retryAfterSeconds)
}

/** A caller has used up what he may have in a day or a month. */
export function quotaExceeded(retryAfterSeconds: number): RpcError {
  return refusedFor(limitReached('Quota exceeded'), 429, retryAfterSeconds)
}

/** A method that others are offered, but not this caller. */
export function methodNotAllowed(method: string): RpcError {
  return refusedFor(methodNotAvailable(method), 403)
}

/** A request that names what this caller may not ask about. */
export function contractNotAllowed(): RpcError {
  return refusedFor(invalidRequest('Contract not allowed'), 403)
}

function refusedFor(error: RpcError, httpStatus: number, retryAfterSeconds?: number): RpcError {
  error.httpStatus = httpStatus
  error.retryAfterSeconds = retryAfterSeconds
  return error
}

/** What is needed for an answer is not there now. */
export function unavailable(message: string): RpcError {
  return refusedFor(limitReached(message), 503, 1)
}

/** A name that this product does not know at all. */
export function methodNotFound(): RpcError {
  return new RpcError(code.methodNotFound, 'method not found')
}

/** A known name that this node, or this caller, is not offered. */
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
