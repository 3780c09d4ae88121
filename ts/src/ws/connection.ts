import type { WebSocket } from 'uWebSockets.js'
import type { Admission } from '../auth/keyring.ts'
import type { Answer } from '../rpc/envelope.ts'
import { type Flight, nextConnection } from '../rpc/flight.ts'
import type { MemoryBudget, Reservation } from '../rpc/memoryBudget.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { allReadTooSlowly, type Closing, readsTooSlowly } from './closing.ts'

/** What uWebSockets keeps for a socket. */
export interface SocketData {
  /** What the client was let in with. */
  readonly admission: Admission
  /** The network that the client comes from, see `networkOf`. */
  readonly network: string
  /** Called when the socket has closed. */
  readonly release: () => void
  connection?: Connection
}

/** What all clients of one worker have not read yet. */
export interface Unread {
  bytes: number
}

export interface BufferLimits {
  /** Of one client. */
  readonly maxBufferedBytes: number
  /** Of all together. */
  readonly maxUnreadBytes: number
}

/** An open WebSocket: what waits for an answer on it, and the only way to write to it. */
export class Connection implements Subscriber {
  /** Requests that are not answered yet. */
  readonly flights = new Set<Flight>()
  /** Its place in the queue of the pool, which all its requests share. */
  readonly number = nextConnection()
  /** What the client is let in with now. */
  admission: Admission
  readonly #network: string
  readonly #socket: WebSocket<SocketData>
  readonly #limits: BufferLimits
  readonly #unread: Unread
  /** Counts what the client has not read. */
  readonly #held: Reservation
  /** Its part of what is unread. */
  #waitingBytes = 0
  #isOpen = true

  constructor(socket: WebSocket<SocketData>, limits: BufferLimits, unread: Unread, memory: MemoryBudget) {
    const { admission, network } = socket.getUserData()
    this.admission = admission
    this.#network = network
    this.#held = memory.open(this.client)
    this.#socket = socket
    this.#limits = limits
    this.#unread = unread
  }

  get client(): string {
    return this.admission.caller?.app ?? this.#network
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
    this.#unread.bytes -= this.#waitingBytes
    this.#held.release()
    for (const flight of this.flights) flight.abort()
  }

  /** To be called when the client has read something. */
  onDrained(): void {
    this.#look()
  }

  /** Sees how much waits to be read, and whether there is memory for it. */
  #look(): { readonly bytes: number; readonly hasRoom: boolean } {
    const bytes = this.#socket.getBufferedAmount()
    this.#unread.bytes += bytes - this.#waitingBytes
    this.#waitingBytes = bytes
    return { bytes, hasRoom: this.#held.count(bytes) }
  }

  /**
   * A single answer may be larger than the limit. But who has not read so much when the next one comes is too slow:
   * skipping messages would leave gaps in subscriptions, and keeping them would fill the memory. Where all together have
   * left too much, it ends for whoever has left anything.
   */
  #write(message: Answer): void {
    if (!this.#isOpen) return
    const { maxBufferedBytes, maxUnreadBytes } = this.#limits
    const { bytes: waiting, hasRoom } = this.#look()
    if (waiting > maxBufferedBytes) this.end(readsTooSlowly(maxBufferedBytes))
    else if (waiting > 0 && (!hasRoom || this.#unread.bytes > maxUnreadBytes)) this.end(allReadTooSlowly)
    else {
      this.#socket.send(message, false)
      if (this.#isOpen) this.#look()
    }
  }
}
