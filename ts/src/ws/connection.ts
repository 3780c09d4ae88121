import type { WebSocket } from 'uWebSockets.js'
import type { Admission } from '../auth/keyring.ts'
import type { Caller } from '../rpc/caller.ts'
import { type Message, wholeMessage } from '../rpc/longAnswer.ts'
import type { MemoryBudget, Reservation } from '../rpc/memoryBudget.ts'
import { nextConnection, type RequestContext } from '../rpc/requestContext.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { allReadTooSlowly, type Closing, readsTooSlowly } from './closing.ts'

/** Data that uWebSockets stores with a socket. */
export interface SocketData {
  /** The authentication result of the upgrade. */
  readonly admission: Admission
  /** The network of the client, see `networkOf`. */
  readonly network: string
  /** Called when the socket has closed. */
  readonly release: () => void
  connection?: Connection
}

/** Unread bytes with which a connection counts as drained. */
const drainedBytes = 64 * 1024

/** Bytes that all clients of one worker have not read yet. */
export interface Unread {
  bytes: number
}

export interface BufferLimits {
  /** Limit of one client. */
  readonly maxBufferedBytes: number
  /** Limit of all clients of the worker. */
  readonly maxUnreadBytes: number
}

/** An open WebSocket. The only way to write to it, so that unread bytes are always counted. */
export class Connection implements Subscriber {
  /** Unanswered requests. */
  readonly requests = new Set<RequestContext>()
  /** Number of the connection in the queue of the pool: its requests share one line. */
  readonly number = nextConnection()
  /** The current authentication result; renewed when keys change. */
  admission: Admission
  readonly #network: string
  readonly #socket: WebSocket<SocketData>
  readonly #limits: BufferLimits
  readonly #unread: Unread
  /** Reserves the bytes that the client has not read. */
  readonly #held: Reservation
  /** Calls of `drained` that wait. */
  readonly #waiting: (() => void)[] = []
  /** Its part of `#unread`. */
  #unreadBytes = 0
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

  get caller(): Caller | undefined {
    return this.admission.caller
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  send(answer: Message): void {
    if (this.#isOpen) this.#socket.cork(() => this.#write(wholeMessage(answer)))
  }

  push(messages: Iterable<Buffer>): void {
    if (!this.#isOpen) return
    this.#socket.cork(() => {
      for (const message of messages) this.#write(message)
    })
  }

  drained(): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #hasRoom(): boolean {
    return !this.#isOpen || this.#socket.getBufferedAmount() <= drainedBytes
  }

  /** Lets the calls of `drained` return, one in each turn of the event loop: each may fill the buffer again. */
  #wakeWaiting(): void {
    if (this.#waiting.length === 0 || !this.#hasRoom()) return
    this.#waiting.shift()?.()
    setImmediate(() => this.#wakeWaiting())
  }

  /** Sends the close frame after all unread messages, then closes the connection. */
  end({ code, reason }: Closing): void {
    if (this.#isOpen) this.#socket.end(code, reason)
  }

  /** Must be called when the socket has closed; it must not be used afterwards. */
  onClosed(): void {
    this.#isOpen = false
    this.#unread.bytes -= this.#unreadBytes
    this.#held.release()
    for (const context of this.requests) context.abort()
    this.#wakeWaiting()
  }

  /** Must be called when the client has read something. */
  onDrained(): void {
    this.#countUnread()
    this.#wakeWaiting()
  }

  /** Updates the number of unread bytes; `hasRoom` is false when they exceed the memory limit. */
  #countUnread(): { readonly bytes: number; readonly hasRoom: boolean } {
    const bytes = this.#socket.getBufferedAmount()
    this.#unread.bytes += bytes - this.#unreadBytes
    this.#unreadBytes = bytes
    return { bytes, hasRoom: this.#held.count(bytes) }
  }

  /**
   * Sends a message, or closes the connection when too much is unread: skipping messages would leave gaps in
   * subscriptions, and keeping them would fill the memory. A single answer may exceed the limit; the next message then
   * finds the connection too slow. When all clients together exceed their limit, any unread byte closes the connection.
   */
  #write(message: string | Buffer): void {
    if (!this.#isOpen) return
    const { maxBufferedBytes, maxUnreadBytes } = this.#limits
    const { bytes: unread, hasRoom } = this.#countUnread()
    if (unread > maxBufferedBytes) this.end(readsTooSlowly(maxBufferedBytes))
    else if (unread > 0 && (!hasRoom || this.#unread.bytes > maxUnreadBytes)) this.end(allReadTooSlowly)
    else {
      this.#socket.send(message, false)
      if (this.#isOpen) this.#countUnread()
    }
  }
}
