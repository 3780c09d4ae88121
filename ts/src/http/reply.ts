import type { HttpResponse } from 'uWebSockets.js'
import type { Answer } from '../rpc/envelope.ts'

const statusTexts: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  405: '405 Method Not Allowed',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  503: '503 Service Unavailable',
}

export interface Outgoing {
  readonly status: number
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** JSON; undefined for an empty body. */
  readonly body: Answer | undefined
}

/** Writes a whole response inside one cork: one packet, one system call. */
export function send(response: HttpResponse, outgoing: Outgoing): void {
  response.cork(() => {
    if (outgoing.status !== 200) response.writeStatus(statusTexts[outgoing.status] ?? String(outgoing.status))
    for (const [name, value] of outgoing.headers ?? []) response.writeHeader(name, value)
    if (outgoing.body === undefined) {
      if (outgoing.status === 200) response.end()
      else response.endWithoutBody()
      return
    }
    response.writeHeader('Content-Type', 'application/json')
    response.end(outgoing.body)
  })
}
