import type { HttpRequest } from 'uWebSockets.js'

/** How the end of a request is found. */
export type Framing =
  | 'plain'
  /** By chunks, whose delimiters uWebSockets does not look at. */
  | 'chunked'
  /** A proxy could take it for another request than this node: for one of another length, or to another host. */
  | 'ambiguous'

const wholeNumber = /^[0-9]+$/
let hosts = 0
let lengths = 0
let codings = 0
let isStrange = false

/** One function for all requests: a closure for each would cost as much as the headers. */
function look(name: string, value: string): void {
  if (name === 'host') hosts++
  else if (name === 'content-length') {
    lengths++
    // uWebSockets takes an empty one for none, and does not look at it when a WebSocket is asked for.
    if (!wholeNumber.test(value)) isStrange = true
  } else if (name === 'transfer-encoding') {
    codings++
    // uWebSockets takes any coding for chunks, and an empty one for none.
    if (value.toLowerCase() !== 'chunked') isStrange = true
  }
}

/** Reads what all headers of a request say about its length and its host: uWebSockets goes by the first of each name. */
export function framingOf(request: HttpRequest): Framing {
  hosts = 0
  lengths = 0
  codings = 0
  isStrange = false
  request.forEach(look)
  if (isStrange || hosts > 1 || lengths + codings > 1) return 'ambiguous'
  return codings === 1 ? 'chunked' : 'plain'
}
