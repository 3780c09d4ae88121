import type { WebSocket } from 'uWebSockets.js'
import { Buffer } from 'node:buffer'
import type { Admission } from '../auth/keyring.ts'
import type { Caller } from '../rpc/caller.ts'
import { eventLoopBudget } from '../rpc/eventLoopBudget.ts'
import { byteLength, LongAnswer, type Message, wholeMessage } from '../rpc/longAnswer.ts'
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
/** Larger messages are sent in fragments of this size. */
const frameBytes = 256 * 1024
/**
 * Limit of the buffer of uWebSockets for one socket. Messages never reach it, because they wait in `Connection`; beyond it
 * the answers to pings are dropped.
 */
export const maxSocketBytes = 2 * frameBytes
/** Memory of a waiting message besides its bytes. */
const entryBytes = 128
/** Time in which uWebSockets frees the buffer of a closed socket whose client does not read. */
const bufferLifeMs = 20_000

/** Memory for the fragment to send, which uWebSockets copies. */
const fragment = Buffer.allocUnsafeSlow(frameBytes)

/** Methods of uWebSockets.js that its types do not declare. */
interface FragmentSocket extends WebSocket<SocketData> {
  sendFirstFragment(part: Buffer, isBinary: boolean): number
  sendFragment(part: Buffer): number
  sendLastFragment(part: Buffer): number
}

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

/** Limits and counts that the connections of a server share. */
export interface ConnectionParts {
  readonly limits: BufferLimits
  readonly unread: Unread
  readonly memory: MemoryBudget
  /** Frees buffers that were sent. */
  readonly releaseBuffers: (buffers: readonly Buffer[]) => void
}

/**
 * An open WebSocket. The only way to write to it, so that unread bytes are always counted.
 *
 * Unread messages wait here and not in uWebSockets: when a socket closes, uWebSockets reports it at once, but keeps its buffer
 * until the client has read it, or for 20 s in which nothing is read.
 */
export class Connection implements Subscriber {
  /** Unanswered requests. */
  readonly requests = new Set<RequestContext>()
  /** Number of the connection in the queue of the pool: its requests share one line. */
  readonly number = nextConnection()
  /** The current authentication result; renewed when keys change. */
  admission: Admission
  /** The network of the client, see `networkOf`. */
  readonly network: string
  readonly #release: () => void
  readonly #socket: FragmentSocket
  readonly #parts: ConnectionParts
  /** Reserves the bytes that the client has not read. */
  readonly #held: Reservation
  /** Calls of `drained` that wait. */
  readonly #waiting: (() => void)[] = []
  /** Messages that uWebSockets has no room for. */
  #messages: (Buffer | LongAnswer)[] = []
  /** Bytes of the first message that were sent. */
  #sentBytes = 0
  /** Memory of the messages. */
  #messageBytes = 0
  /** Bytes in the buffer of uWebSockets when they were counted last. */
  #socketBytes = 0
  /** Its part of the unread bytes of the worker. */
  #unreadBytes = 0
  #isOpen = true
  #isScheduled = false

  constructor(socket: WebSocket<SocketData>, parts: ConnectionParts) {
    const { admission, network, release } = socket.getUserData()
    this.admission = admission
    this.network = network
    this.#release = release
    this.#held = parts.memory.open(this.client)
    this.#socket = socket as FragmentSocket
    this.#parts = parts
  }

  get client(): string {
    return this.admission.caller?.app ?? this.network
  }

  get caller(): Caller | undefined {
    return this.admission.caller
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isBehind(): boolean {
    return this.#isOpen && this.#unreadBytes > this.#parts.limits.maxBufferedBytes / 4
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  send(answer: Message): void {
    if (this.#isOpen) this.#socket.cork(() => this.#write(answer))
    else this.#free(answer)
  }

  push(messages: Iterable<Buffer>): void {
    if (!this.#isOpen) return
    this.#socket.cork(() => {
      for (const message of messages) this.#write(message)
    })
  }

  drained(): Promise<void> {
    if (this.#waiting.length === 0 && this.#isDrained()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #isDrained(): boolean {
    return !this.#isOpen || (this.#messages.length === 0 && this.#hasRoom())
  }

  /** Whether uWebSockets takes another message or fragment. */
  #hasRoom(): boolean {
    return this.#socket.getBufferedAmount() <= drainedBytes
  }

  /** Lets the calls of `drained` return, one in each turn of the event loop: each may fill the buffer again. */
  #wakeWaiting(): void {
    if (this.#waiting.length === 0 || !this.#isDrained()) return
    this.#waiting.shift()?.()
    setImmediate(() => this.#wakeWaiting())
  }

  /** Drops the messages that wait, sends the close frame and closes the connection. */
  end({ code, reason }: Closing): void {
    if (!this.#isOpen) return
    this.#drop()
    this.#count()
    this.#socket.end(code, reason)
  }

  /** Must be called when the socket has closed; it must not be used afterwards. */
  onClosed(): void {
    this.#isOpen = false
    this.#drop()
    this.#parts.unread.bytes -= this.#unreadBytes
    this.#held.count(this.#socketBytes)
    const release = (): void => {
      this.#held.release()
      this.#release()
    }
    if (this.#socketBytes > 0) setTimeout(release, bufferLifeMs).unref()
    else release()
    for (const context of this.requests) context.abort()
    this.#wakeWaiting()
  }

  /** Must be called when the client has read something. */
  onDrained(): void {
    this.#count()
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Never within the event: uSockets stops watching a socket whose buffer is filled there by a large write.
    void eventLoopBudget.later('heavy', () => this.#continue())
  }

  #continue(): void {
    this.#isScheduled = false
    if (this.#isOpen) {
      this.#socket.cork(() => this.#flush())
      this.#count()
    }
    this.#wakeWaiting()
  }

  /** Updates the number of unread bytes; `hasRoom` is false when they exceed the memory limit. */
  #count(): { readonly bytes: number; readonly hasRoom: boolean } {
    const { unread } = this.#parts
    this.#socketBytes = this.#socket.getBufferedAmount()
    const bytes = this.#messageBytes - this.#sentBytes + this.#socketBytes
    unread.bytes += bytes - this.#unreadBytes
    this.#unreadBytes = bytes
    // A message that is sent in part is in memory as a whole.
    return { bytes, hasRoom: this.#held.count(this.#messageBytes + this.#socketBytes) }
  }

  /**
   * Sends a message, or closes the connection when too much is unread: skipping messages would leave gaps in
   * subscriptions, and keeping them would fill the memory. A single answer may exceed the limit of the client; the next
   * message then finds the connection too slow. When all clients together, or all connections of this one, exceed their
   * limit, a connection with unread bytes is closed.
   */
  #write(message: Message | Buffer): void {
    if (!this.#isOpen) return
    const { maxBufferedBytes } = this.#parts.limits
    if (this.#count().bytes > maxBufferedBytes) {
      this.end(readsTooSlowly(maxBufferedBytes))
      return
    }
    const length = byteLength(message)
    if (length <= frameBytes && this.#messages.length === 0 && this.#hasRoom()) {
      this.#socket.send(wholeOf(message), false)
      this.#free(message)
    } else {
      // The caller overwrites the bytes of a notification.
      const kept = length > frameBytes ? longOf(message) : Buffer.from(wholeOf(message))
      this.#messages.push(kept)
      this.#messageBytes += memoryOf(kept)
      this.#flush()
    }
    if (this.#isOpen) this.#checkMemory()
  }

  #checkMemory(): void {
    const { limits, unread } = this.#parts
    const { bytes, hasRoom } = this.#count()
    if (bytes > 0 && (!hasRoom || unread.bytes > limits.maxUnreadBytes)) this.end(allReadTooSlowly)
  }

  /** Sends waiting messages until uWebSockets has no room. */
  #flush(): void {
    for (;;) {
      const [message] = this.#messages
      if (message === undefined || !this.#hasRoom()) return
      if (!(message instanceof LongAnswer)) this.#socket.send(message, false)
      else if (!this.#sendFragment(message)) continue
      this.#messages.shift()
      this.#messageBytes -= memoryOf(message)
      this.#sentBytes = 0
      this.#free(message)
    }
  }

  /** Sends the next fragment. Returns whether it is the last one. */
  #sendFragment(answer: LongAnswer): boolean {
    const offset = this.#sentBytes
    const part = fragment.subarray(0, answer.copy(offset, fragment))
    this.#sentBytes += part.length
    const isLast = this.#sentBytes === answer.length
    if (offset === 0) this.#socket.sendFirstFragment(part, false)
    else if (isLast) this.#socket.sendLastFragment(part)
    else this.#socket.sendFragment(part)
    return isLast
  }

  #drop(): void {
    for (const message of this.#messages) this.#free(message)
    this.#messages = []
    this.#messageBytes = 0
    this.#sentBytes = 0
  }

  /** Frees the memory of a long answer, which the engine would do late. */
  #free(message: Message | Buffer): void {
    if (message instanceof LongAnswer && message.length > frameBytes) this.#parts.releaseBuffers(message.buffers)
  }
}

function wholeOf(message: Message | Buffer): string | Buffer {
  return Buffer.isBuffer(message) ? message : wholeMessage(message)
}

function longOf(message: Message | Buffer): LongAnswer {
  return message instanceof LongAnswer ? message : new LongAnswer([Buffer.from(message)])
}

function memoryOf(message: Buffer | LongAnswer): number {
  return message.length + entryBytes
}
