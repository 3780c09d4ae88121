/** Connection that receives notifications. */
export interface Subscriber {
  /** Client whose memory is limited, see `RequestContext.client`. */
  readonly client: string
  /** Sends messages in order, in one packet if they fit. Does nothing if the connection is closed. */
  push(messages: Iterable<Buffer>): void
}
