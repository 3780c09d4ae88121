import type { HttpRequest } from 'uWebSockets.js'

/** The key that a request carries, empty without: the header `x-api-key`, else the last segment of the path. */
export function apiKeyOf(request: HttpRequest): string {
  const header = request.getHeader('x-api-key')
  if (header !== '') return header
  const path = request.getUrl()
  return path.slice(path.lastIndexOf('/') + 1)
}
