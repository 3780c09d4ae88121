import type { Caller } from './caller.ts'

/** Connection that receives notifications. */
export interface Subscriber {
  /** Client whose memory is limited, see `RequestContext.client`. */
  readonly client: string
  /** App that the connection is billed to; undefined if authentication is off. */
  readonly caller: Caller | undefined
  readonly isOpen: boolean
  /** Whether the unread bytes exceed a quarter of their limit: senders of long series wait. */
  readonly isBehind: boolean
  readonly unreadBytes: number
  /** Waits until the client has read nearly all that was sent, or the connection is closed. Calls that wait return one at a time. */
  drained(): Promise<void>
  /** Sends messages in order, in one packet if they fit. Does nothing if the connection is closed. */
  push(messages: Iterable<Buffer>): void
}
