import type { Addon } from '../native/bindings.ts'
import { headCursor } from '../native/feed.ts'
import { type FeedPage, feedPage } from '../native/feedPage.ts'
import type { HeadChanges } from '../native/headChanges.ts'
import { limitReached, overloaded, unavailable } from '../rpc/errors.ts'
import type { FeedClient, FeedPort } from '../rpc/feedClient.ts'
import type { MemoryBudget } from '../rpc/memoryBudget.ts'
import { type FeedOptions, feedContent } from '../rpc/parameters/feed.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { Feed, type FeedPages, feedBytes } from './feed.ts'
import { SubscribedClient } from './subscribedClient.ts'

/** Dependencies of the feeds of a worker. */
export interface FeedParts {
  readonly native: Pick<Addon, 'feedPage' | 'headCursor' | 'cancelExecution'>
  readonly heads: HeadChanges
  readonly memory: MemoryBudget
  /** Time for the block of a cursor to arrive from another node of a fleet; 0 without one. */
  readonly arrivalMs: number
  /** Feeds of a connection, at most. */
  readonly maximum: number
  readonly newId: () => string
  /** Called with 1 when a feed begins, with -1 when it ends. */
  readonly onChange: (change: number) => void
  /** Receives failures of this node that no request can return. */
  readonly report: (defect: unknown) => void
}

/** Change feeds of one worker. A feed of a WebSocket ends with its connection. */
export class Feeds implements FeedPort {
  readonly #parts: FeedParts
  readonly #owned = new Map<Subscriber, Map<string, Feed>>()
  /** Pages that are being read, by place and contents: at a new head, many clients ask for the same page. */
  readonly #reading = new Map<string, SharedRead>()
  readonly #listeners = new Set<() => void>()
  #changes = 0
  #isListening = false

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  async open(options: FeedOptions, client: FeedClient, context: RequestContext): Promise<Feed> {
    this.#listen()
    const { memory, arrivalMs, onChange, report } = this.#parts
    const held = memory.reserve(context.client, feedBytes)
    if (held === undefined) throw overloaded()
    const feed = new Feed(this.#pages(options, client, context), options, client, context, held, (defect) => {
      onChange(-1)
      if (defect !== undefined) report(defect)
    })
    onChange(1)
    try {
      await feed.open(arrivalMs)
    } catch (error) {
      feed.close()
      throw error
    }
    return feed
  }

  /** Adds a feed of a WebSocket, whose events follow the answer of this request. Returns its id. */
  async subscribe(subscriber: Subscriber, options: FeedOptions, request: RequestContext): Promise<string> {
    const { native, maximum, newId } = this.#parts
    const owned = this.#owned.get(subscriber) ?? new Map<string, Feed>()
    if (owned.size >= maximum) throw limitReached(`Too many feeds: ${maximum} are the most of one connection`)
    const context = new RequestContext(0, (token) => native.cancelExecution(token))
    context.connection = request.connection
    context.caller = request.caller
    context.readNetwork = request.readNetwork
    const id = newId()
    const feed = await this.open(options, new SubscribedClient(subscriber, id), context)
    // Another request may have added a feed meanwhile, or the connection may have closed.
    const others = this.#owned.get(subscriber) ?? owned
    if (!subscriber.isOpen || others.size >= maximum) {
      feed.close()
      throw limitReached(`Too many feeds: ${maximum} are the most of one connection`)
    }
    this.#owned.set(subscriber, others.set(id, feed))
    setImmediate(() => {
      void feed.run().then(() => this.unsubscribe(subscriber, id))
    })
    return id
  }

  /** Ends a feed. Returns false if this connection has no such id. */
  unsubscribe(subscriber: Subscriber, id: string): boolean {
    const owned = this.#owned.get(subscriber)
    const feed = owned?.get(id)
    feed?.close()
    owned?.delete(id)
    if (owned?.size === 0) this.#owned.delete(subscriber)
    return feed !== undefined
  }

  /** Ends the feeds of a closed connection. */
  forget(subscriber: Subscriber): void {
    for (const feed of this.#owned.get(subscriber)?.values() ?? []) feed.close()
    this.#owned.delete(subscriber)
  }

  #listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    this.#parts.heads.add(() => {
      this.#changes++
      // A copy: a listener removes itself.
      for (const each of [...this.#listeners]) each()
    })
  }

  #pages(options: FeedOptions, { isEventStream }: FeedClient, context: RequestContext): FeedPages {
    const content = feedContent(options)
    const { native } = this.#parts
    const changes = () => this.#changes
    return {
      get changes() {
        return changes()
      },
      onChange: (listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      head: () => headCursor(native).number,
      page: (from) => this.#page(from, content, isEventStream, context),
    }
  }

  async #page(from: string, content: string, isEventStream: boolean, context: RequestContext): Promise<FeedPage> {
    if (context.isAborted) throw unavailable('The client has left')
    const key = `${isEventStream} ${this.#changes} ${from} ${content}`
    const read = this.#reading.get(key) ?? this.#read(key, from, content, isEventStream, context)
    read.waiting++
    context.onAbort = () => {
      context.onAbort = undefined
      read.waiting--
      if (read.waiting > 0) return
      if (this.#reading.get(key) === read) this.#reading.delete(key)
      read.context.abort()
    }
    try {
      return await read.page
    } finally {
      context.onAbort = undefined
    }
  }

  /** Starts a read for all that ask until it has ended. The last client to leave cancels it. */
  #read(key: string, from: string, content: string, isEventStream: boolean, first: RequestContext): SharedRead {
    const { native } = this.#parts
    const context = new RequestContext(0, (token) => native.cancelExecution(token))
    context.connection = first.connection
    context.caller = first.caller
    const page = feedPage(native, from, content, isEventStream, context).finally(() => {
      if (this.#reading.get(key) === read) this.#reading.delete(key)
    })
    const read = { page, context, waiting: 0 }
    this.#reading.set(key, read)
    return read
  }
}

/** A page that is being read, and the number of clients that wait for it. */
interface SharedRead {
  readonly page: Promise<FeedPage>
  readonly context: RequestContext
  waiting: number
}
