import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { AddressRanges } from '../config/addressRanges.ts'
import { peerAddress } from './clientAddress.ts'
import type { ConnectionTable } from './connectionTable.ts'

const methods = ['get', 'head', 'post', 'options', 'put', 'patch', 'del', 'trace', 'connect'] as const

/** A counted connection, seen from one of its requests. */
export interface CountedConnection {
  /** Must be called once, when the connection has closed. */
  readonly release: () => void
  /** Calls `write`. When `write` returns true, the response has ended, and the handler for the end of the connection is set again. */
  end(write: () => boolean): void
}

/**
 * Counts the connections of each client to one address and closes those beyond the limit.
 *
 * When a connection closes, uWebSockets no longer reports its address. Its only handler that knows the connection,
 * `onAborted`, is removed when a response ends. So every request passes a route that keeps a second handle of its
 * connection. The answer is sent through the first handle; then `onAborted` is set again through the second.
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

  /** Must be called before other routes are added; these must use the pattern `routesBehind`. */
  attach(app: TemplatedApp): void {
    const keep = (response: HttpResponse, request: HttpRequest): void => {
      this.#handle = response
      request.setYield(true)
    }
    for (const method of methods) app[method]('/*', keep)
    app.ws('/*', { upgrade: keep })
    app.filter((response, change) => this.#onChange(response, Number(change)))
  }

  /** Must be called first for each request. Returns undefined for a connection that is not counted, `closed` after closing the connection. */
  count(response: HttpResponse): CountedConnection | 'closed' | undefined {
    const handle = this.#handle
    this.#handle = undefined
    if (this.#isTrusted(response)) return undefined
    const address = new Uint8Array(response.getRemoteAddress())
    // After a disconnect there is no address, and an HTTP method without a route leaves no handle. In both cases the
    // `onAborted` handler that was set before this request is still in place and releases the connection.
    if (handle === undefined || address.length === 0) {
      response.close()
      return 'closed'
    }
    const slot = this.#table.slotOf(address)
    const release = (): void => this.#table.leave(slot)
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
    const slot = this.#table.slotOf(new Uint8Array(response.getRemoteAddress()))
    if (this.#table.enter(slot, this.#limit)) {
      response.onAborted(() => this.#table.leave(slot))
    } else {
      this.#onRefused()
      response.close()
    }
  }

  #isTrusted(response: HttpResponse): boolean {
    return !this.#trusted.isEmpty && this.#trusted.has(peerAddress(response))
  }
}

/** Pattern of the routes that run after those of `Connections`. Matches any path, but differs from their pattern `/*`. */
export const routesBehind = '/**'
