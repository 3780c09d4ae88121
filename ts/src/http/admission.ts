import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Refusal } from '../auth/keyring.ts'
import type { Visitor } from '../auth/profile.ts'
import type { AddressRanges } from '../config/addressRanges.ts'
import type { Caller } from '../rpc/caller.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, RpcError } from '../rpc/errors.ts'
import { clientAddress } from './clientAddress.ts'
import type { Headers, Outgoing } from './reply.ts'

/** What of a request the policy of its app may look at. */
export function visitorOf(response: HttpResponse, request: HttpRequest, trusted: AddressRanges): Visitor {
  return {
    source: clientAddress(response, request, trusted),
    origin: request.getHeader('origin'),
    token: tokenOf(request.getHeader('authorization'), request.getHeader('sec-websocket-protocol')),
  }
}

/** From `Authorization: Bearer`. Web pages cannot set it for a WebSocket: there it may be the second of two protocols. */
function tokenOf(authorization: string, protocols: string): string {
  const bearer = /^bearer +([^\s,]+)$/i.exec(authorization) ?? /^bearer *, *([^\s,]+)$/i.exec(protocols)
  return bearer?.[1] ?? ''
}

const unauthenticated = 'Must be authenticated!'
const askForToken = ['WWW-Authenticate', 'Bearer'] as const

/** The answer to who is not let in. */
export function admissionRefused(refusal: Refusal, headers: Headers): Outgoing {
  if (refusal === 'key') return refused(401, unauthenticated, headers)
  if (refusal === 'token') return refused(401, unauthenticated, [...headers, askForToken])
  return refused(403, refusal === 'origin' ? 'Origin not allowed' : 'Address not allowed', headers)
}

export function refused(status: number, message: string, headers: Headers = []): Outgoing {
  return { status, headers, body: writeError('null', new RpcError(code.invalidRequest, message), false) }
}

/** What a caller with a limit is told of it. Web pages may read it, too. */
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
