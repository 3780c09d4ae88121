import type { HttpRequest } from 'uWebSockets.js'

/** Returns the API key of a request, or an empty text: the header `x-api-key`, else the last segment of the path. */
export function apiKeyOf(request: HttpRequest): string {
  const header = request.getHeader('x-api-key')
  if (header !== '') return header
  const path = request.getUrl()
  return path.slice(path.lastIndexOf('/') + 1)
}
