/** A connection that can be told things it did not ask for. */
export interface Subscriber {
  /** The client whose memory counts as one. */
  readonly client: string
  /** Sends messages one after the other, in one packet where they fit. A connection that is closed takes none. */
  push(messages: Iterable<Buffer>): void
}
