import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isHostAllowed } from '../http/origin.ts'
import { ApiError } from './refusal.ts'

// Who may use the admin address. Three things are kept out: pages that reach it by a name they have made point here (Host),
// pages of other origins that send requests blindly (Origin, Sec-Fetch-Site), and whoever has no token.

/** Throws ApiError unless the request names this address, once. */
export function checkHost({ host: sent = [] }: NodeJS.Dict<string[]>, hosts: readonly string[]): void {
  if (sent.length > 1) throw new ApiError(400, 'host', 'Host: expected one')
  if (isHostAllowed(sent[0] ?? '', hosts)) return
  throw new ApiError(403, 'host', 'Host: this name is not in admin.hosts')
}

/** Throws ApiError when a page of another origin asks. Programs that are no browser send neither header. */
export function checkOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host = '', 'sec-fetch-site': site = 'none' } = headers
  // Whoever ends TLS in front changes the scheme, not the host.
  const isOwn = origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()
  if (isOwn && (site === 'same-origin' || site === 'none')) return
  throw new ApiError(403, 'origin', 'Origin: only the page of this address may call')
}

/** The SHA-256 of the token that callers have to show. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Throws ApiError unless the request carries the token, where there is one. */
export function checkToken(headers: IncomingHttpHeaders, expected: Buffer | undefined): void {
  if (expected === undefined) return
  const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  if (timingSafeEqual(hashOfToken(shown), expected)) return
  throw new ApiError(401, 'token', 'Authorization: expected Bearer and the token of admin.tokenFile', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}
