import type { HttpRequest } from 'uWebSockets.js'

/** End of the path of change feeds. */
export const feedPath = '/feed'

/** Returns the API key of a request, or an empty text: the header `x-api-key`, else the last segment of the path before `/feed`. */
export function apiKeyOf(request: HttpRequest): string {
  const header = request.getHeader('x-api-key')
  if (header !== '') return header
  const url = request.getUrl()
  const path = url.endsWith(feedPath) ? url.slice(0, -feedPath.length) : url
  return path.slice(path.lastIndexOf('/') + 1)
}
