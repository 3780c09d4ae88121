import { isOriginAllowed } from './origin.ts'
import type { Headers } from './reply.ts'

/** Returns the headers with which the web page of an allowed origin may read an answer, for a request without an origin no headers. */
export function corsHeaders(origin: string, cors: readonly string[]): Headers {
  if (origin === '') return []
  if (cors.includes('*')) return [['Access-Control-Allow-Origin', '*']]
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Vary', 'Origin'],
  ]
}

/** Returns the headers of the answer to OPTIONS. `more`: request headers that pages may send besides the usual ones. */
export function preflightHeaders(origin: string, cors: readonly string[], more: readonly string[]): Headers {
  if (origin === '') return [['Allow', 'POST, OPTIONS']]
  if (!isOriginAllowed(origin, cors)) return []
  return [
    ...corsHeaders(origin, cors),
    ['Access-Control-Allow-Methods', 'GET, POST'],
    ['Access-Control-Allow-Headers', ['content-type', 'x-api-key', 'authorization', ...more].join(', ')],
    ['Access-Control-Max-Age', '600'],
  ]
}
