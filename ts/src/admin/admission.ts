import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isHostAllowed } from '../http/origin.ts'
import { ApiError } from './refusal.ts'

// Admission to the admin address. Three checks refuse pages that use DNS rebinding (Host), cross-site requests of pages
// (Origin, Sec-Fetch-Site), and requests without the token.

/** Throws ApiError unless the request has one `Host` and it names this address. */
export function checkHost(
  { host: sent = [] }: NodeJS.Dict<string[]>,
  { section, hosts }: { readonly section: string; readonly hosts: readonly string[] },
): void {
  if (sent.length > 1) throw new ApiError(400, 'host', 'Host: expected one')
  if (isHostAllowed(sent[0] ?? '', hosts)) return
  throw new ApiError(403, 'host', `Host: this name is not in ${section}.hosts`)
}

/** Throws ApiError for requests of a page of another origin. Programs other than browsers send neither header. */
export function checkOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host = '', 'sec-fetch-site': site = 'none' } = headers
  // A proxy that terminates TLS changes the scheme, not the host.
  const isOwn = origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()
  if (isOwn && (site === 'same-origin' || site === 'none')) return
  throw new ApiError(403, 'origin', 'Origin: only the page of this address may call')
}

/** Returns the SHA-256 of a token. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Throws ApiError unless the request has the expected token; undefined: no token is required. */
export function checkToken(headers: IncomingHttpHeaders, expected: Buffer | undefined): void {
  if (expected === undefined) return
  const sent = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  if (timingSafeEqual(hashOfToken(sent), expected)) return
  throw new ApiError(401, 'token', 'Authorization: expected Bearer and the token of admin.tokenFile', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}
