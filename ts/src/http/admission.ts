import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Refusal } from '../auth/keyring.ts'
import type { ClientInfo } from '../auth/profile.ts'
import type { AddressRanges } from '../config/addressRanges.ts'
import type { Caller } from '../rpc/caller.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, RpcError } from '../rpc/errors.ts'
import { clientAddress } from './clientAddress.ts'
import type { Headers, Outgoing } from './reply.ts'

/** Reads the parts of a request that the policy of its app may check. */
export function clientInfoOf(response: HttpResponse, request: HttpRequest, trusted: AddressRanges): ClientInfo {
  return {
    source: clientAddress(response, request, trusted),
    origin: request.getHeader('origin'),
    token: tokenOf(request.getHeader('authorization'), request.getHeader('sec-websocket-protocol')),
  }
}

/** Reads the token of `Authorization: Bearer`. Web pages cannot set this header for a WebSocket and send the token as the second of two protocols. */
function tokenOf(authorization: string, protocols: string): string {
  const bearer = /^bearer +([^\s,]+)$/i.exec(authorization) ?? /^bearer *, *([^\s,]+)$/i.exec(protocols)
  return bearer?.[1] ?? ''
}

const unauthenticated = 'Must be authenticated!'
const askForToken = ['WWW-Authenticate', 'Bearer'] as const

/** Returns the response for a refused request. */
export function admissionRefused(refusal: Refusal, headers: Headers): Outgoing {
  if (refusal === 'key') return refused(401, unauthenticated, headers)
  if (refusal === 'token') return refused(401, unauthenticated, [...headers, askForToken])
  return refused(403, refusal === 'origin' ? 'Origin not allowed' : 'Address not allowed', headers)
}

export function refused(status: number, message: string, headers: Headers = []): Outgoing {
  return { status, headers, body: writeError('null', new RpcError(code.invalidRequest, message), false) }
}

/** Adds the `RateLimit-*` headers for a caller with limits. Web pages may read them, too. */
export function withLimits(headers: Headers, caller: Caller | undefined, hasOrigin: boolean): Headers {
  const state = caller?.limitState()
  if (state === undefined) return headers
  const { limit, remaining, resetSeconds } = state
  return [
    ...headers,
    ['RateLimit-Limit', String(limit)],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(resetSeconds)],
    ...(hasOrigin ? [exposed] : []),
  ]
}

const exposed = [
  'Access-Control-Expose-Headers',
  'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id',
] as const
