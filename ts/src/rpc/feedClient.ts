import type { Caller } from './caller.ts'
import type { RpcError } from './errors.ts'
import type { FeedOptions } from './parameters/feed.ts'
import type { RequestContext } from './requestContext.ts'

/** Client of a change feed, as the feed writes to it. */
export interface FeedClient {
  /** Events are server-sent events; otherwise JSON objects, each on a line. */
  readonly isEventStream: boolean
  /** Returns the app that the feed is billed to. Rejects with RpcError if the client is no longer admitted. */
  admitted(): Promise<Caller | undefined>
  /** Sends events. Resolves when the client has read nearly all of them, or has left. */
  send(events: Buffer): Promise<void>
  /** Shows that the node is alive, after a time without events. */
  beat(): void
  /** Sends the error that ends the feed. */
  fail(error: RpcError): void
}

/** A feed with a client. */
export interface OpenFeed {
  /** Sends events until the feed is closed or has failed. */
  run(): Promise<void>
  /** Ends the feed of a client that has left. */
  close(): void
}

/** Change feeds of a worker, as connections use them. */
export interface FeedPort {
  /** Reads the first events, without sending them. Rejects with RpcError if they cannot be read, or if the policy of the app refuses the feed. */
  open(options: FeedOptions, client: FeedClient, context: RequestContext): Promise<OpenFeed>
}
