import type { WebSocket } from 'uWebSockets.js'
import type { Admission } from '../auth/keyring.ts'
import type { Answer } from '../rpc/envelope.ts'
import type { Flight } from '../rpc/flight.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { type Closing, readsTooSlowly } from './closing.ts'

/** What uWebSockets keeps for a socket. */
export interface SocketData {
  /** What the client was let in with. */
  readonly admission: Admission
  /** Called when the socket has closed. */
  readonly release: () => void
  connection?: Connection
}

/** An open WebSocket: what waits for an answer on it, and the only way to write to it. */
export class Connection implements Subscriber {
  /** Requests that are not answered yet. */
  readonly flights = new Set<Flight>()
  /** What the client is let in with now. */
  admission: Admission
  readonly #socket: WebSocket<SocketData>
  readonly #maxBufferedBytes: number
  #isOpen = true

  constructor(socket: WebSocket<SocketData>, maxBufferedBytes: number) {
    this.admission = socket.getUserData().admission
    this.#socket = socket
    this.#maxBufferedBytes = maxBufferedBytes
  }

  send(answer: Answer): void {
    if (this.#isOpen) this.#socket.cork(() => this.#write(answer))
  }

  push(messages: Iterable<Buffer>): void {
    if (!this.#isOpen) return
    this.#socket.cork(() => {
      for (const message of messages) this.#write(message)
    })
  }

  /** Sends the reason behind what waits to be read, then hangs up. */
  end({ code, reason }: Closing): void {
    if (this.#isOpen) this.#socket.end(code, reason)
  }

  /** To be called when the socket has closed: it must not be touched any more. */
  onClosed(): void {
    this.#isOpen = false
    for (const flight of this.flights) flight.abort()
  }

  /**
   * A single answer may be larger than the limit. But who has not read so much when the next one comes is too slow:
   * skipping messages would leave gaps in subscriptions, and keeping them would fill the memory.
   */
  #write(message: Answer): void {
    if (!this.#isOpen) return
    if (this.#socket.getBufferedAmount() > this.#maxBufferedBytes) this.end(readsTooSlowly(this.#maxBufferedBytes))
    else this.#socket.send(message, false)
  }
}
