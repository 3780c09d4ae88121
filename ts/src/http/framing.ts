import type { HttpRequest } from 'uWebSockets.js'

/** How the length of a request body is given. */
export type Framing =
  | 'plain'
  /** By chunks. uWebSockets does not check their delimiters. */
  | 'chunked'
  /** A proxy could read another length or another host than this node does. */
  | 'ambiguous'

const wholeNumber = /^[0-9]+$/
let hosts = 0
let lengths = 0
let codings = 0
let isStrange = false

/** Checks one header. One function for all requests, because a closure for each would cost as much as reading the headers. */
function checkHeader(name: string, value: string): void {
  if (name === 'host') hosts++
  else if (name === 'content-length') {
    lengths++
    // uWebSockets takes an empty value for an absent header, and ignores the header of an upgrade request.
    if (!wholeNumber.test(value)) isStrange = true
  } else if (name === 'transfer-encoding') {
    codings++
    // uWebSockets takes any coding for chunked, and an empty value for an absent header.
    if (value.toLowerCase() !== 'chunked') isStrange = true
  }
}

/** Checks all headers about length and host. uWebSockets reads only the first header of each name. */
export function framingOf(request: HttpRequest): Framing {
  hosts = 0
  lengths = 0
  codings = 0
  isStrange = false
  request.forEach(checkHeader)
  if (isStrange || hosts > 1 || lengths + codings > 1) return 'ambiguous'
  return codings === 1 ? 'chunked' : 'plain'
}
