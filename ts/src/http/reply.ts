import type { HttpResponse } from 'uWebSockets.js'
import type { Answer } from '../rpc/envelope.ts'
import type { Held } from './connections.ts'

const statusTexts: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  503: '503 Service Unavailable',
}

export type Headers = readonly (readonly [name: string, value: string])[]

export interface Outgoing {
  readonly status: number
  readonly headers?: Headers
  /** JSON; undefined for an empty body. */
  readonly body: Answer | undefined
  /** The connection is closed behind it: what the client still sends cannot be made sense of. */
  readonly isLast?: boolean
}

/** Writes a whole response inside one cork: one packet, one system call. */
export function send(response: HttpResponse, outgoing: Outgoing): void {
  if (outgoing.isLast !== true && !isLastOf(response)) {
    ended(response, () => write(response, outgoing, false))
    return
  }
  // uWebSockets goes on with what is behind the request in the same packet, and only then closes the connection. While there
  // is no answer it takes another request for a fault.
  let isGone = false
  onAborted(response, () => {
    isGone = true
  })
  setImmediate(() => isGone || ended(response, () => write(response, outgoing, true)))
}

/** Writes to a response; `write` says whether it has ended it. Nothing ends a response but for this. */
export function ended(response: HttpResponse, write: () => boolean): void {
  const held = heldBy(response)
  if (held === undefined) write()
  else held.end(write)
}

function write(response: HttpResponse, outgoing: Outgoing, isLast: boolean): true {
  const { status, body } = outgoing
  response.cork(() => {
    writeHead(response, outgoing)
    if (body !== undefined || status === 200) response.end(body, isLast)
    else if (isLast) response.endWithoutBody(0, true)
    else response.endWithoutBody()
  })
  return true
}

/** Status and headers. To be called in a cork. */
export function writeHead(response: HttpResponse, { status, headers, body }: Outgoing): void {
  if (status !== 200) response.writeStatus(statusTexts[status] ?? String(status))
  for (const [name, value] of headers ?? []) response.writeHeader(name, value)
  if (body !== undefined) response.writeHeader('Content-Type', 'application/json')
}

/** Calls back when the client hangs up before it has its answer. */
export function onAborted(response: HttpResponse, callback: () => void): void {
  const held = heldBy(response)
  if (held === undefined) {
    response.onAborted(callback)
    return
  }
  response.onAborted(() => {
    held.release()
    callback()
  })
}

/** Keeps with a response that its connection is counted. */
export function hold(response: HttpResponse, held: Held | undefined): void {
  if (held !== undefined) Object.assign(response, { held })
}

/** How its connection is counted, if it is. */
export function heldBy(response: HttpResponse): Held | undefined {
  return (response as { held?: Held }).held
}

/** Has the connection closed behind the response, whatever it will be. */
export function closeBehind(response: HttpResponse): void {
  Object.assign(response, { isLast: true })
}

/** Whether the connection is to be closed behind the response. */
export function isLastOf(response: HttpResponse): boolean {
  return (response as { isLast?: boolean }).isLast === true
}
