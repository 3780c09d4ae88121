import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { AddressRanges } from '../config/addressRanges.ts'
import { peerAddress } from './clientAddress.ts'
import type { ConnectionTable } from './connectionTable.ts'

const methods = ['get', 'head', 'post', 'options', 'put', 'patch', 'del', 'trace', 'connect'] as const

/** A connection that is counted, as one of its requests sees it. */
export interface Held {
  /** To be called once, when the connection has closed. */
  readonly release: () => void
  /** Writes; when `write` says that it has ended the response, sees to it that the end of the connection is told after that, too. */
  end(write: () => boolean): void
}

/**
 * Counts the connections of each client to one address and closes those that are too many.
 *
 * uWebSockets tells when a connection closes, but no longer whose it was, and its only handler that knows goes with the end
 * of each response. So every request is first shown to a route that keeps a second handle of its connection and passes it
 * on; the answer is sent through the first handle, then the handler is set again through the second.
 */
export class Connections {
  readonly #table: ConnectionTable
  readonly #limit: number
  readonly #trusted: AddressRanges
  readonly #onRefused: () => void
  #handle: HttpResponse | undefined
  #closed = 0

  constructor(table: ConnectionTable, limit: number, trusted: AddressRanges, onRefused: () => void) {
    this.#table = table
    this.#limit = limit
    this.#trusted = trusted
    this.#onRefused = onRefused
  }

  /** To be called before other routes are added; those have to stand under `routesBehind`. */
  attach(app: TemplatedApp): void {
    const keep = (response: HttpResponse, request: HttpRequest): void => {
      this.#handle = response
      request.setYield(true)
    }
    for (const method of methods) app[method]('/*', keep)
    app.ws('/*', { upgrade: keep })
    app.filter((response, change) => this.#onChange(response, Number(change)))
  }

  /** To be called first for each request. Undefined: the connection is not counted. `closed`: it had to be closed. */
  hold(response: HttpResponse): Held | 'closed' | undefined {
    const handle = this.#handle
    this.#handle = undefined
    if (this.#isTrusted(response)) return undefined
    const address = new Uint8Array(response.getRemoteAddress())
    // A client that has gone has no address any more, and a method without a route of its own leaves no handle. In both
    // cases the handler that was set before the request is still there and knows whose connection it is.
    if (handle === undefined || address.length === 0) {
      response.close()
      return 'closed'
    }
    const place = this.#table.placeOf(address)
    const release = (): void => this.#table.leave(place)
    return {
      release,
      end: (write) => {
        const closed = this.#closed
        if (!write()) return
        if (this.#closed === closed) handle.onAborted(release)
        else release()
      },
    }
  }

  #onChange(response: HttpResponse, change: number): void {
    if (change > 0) this.#onOpen(response)
    else this.#closed++
  }

  #onOpen(response: HttpResponse): void {
    if (this.#isTrusted(response)) return
    const place = this.#table.placeOf(new Uint8Array(response.getRemoteAddress()))
    if (this.#table.enter(place, this.#limit)) {
      response.onAborted(() => this.#table.leave(place))
    } else {
      this.#onRefused()
      response.close()
    }
  }

  #isTrusted(response: HttpResponse): boolean {
    return !this.#trusted.isEmpty && this.#trusted.has(peerAddress(response))
  }
}

/** The pattern of routes that come after those of `Connections`: any path, like `/*`, but another name for it. */
export const routesBehind = '/**'
