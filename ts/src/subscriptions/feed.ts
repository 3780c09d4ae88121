import type { FeedPage } from '../native/feedPage.ts'
import { pageBytes } from '../native/feedPage.ts'
import type { Caller } from '../rpc/caller.ts'
import { code, contractNotAllowed, internalError, methodNotAllowed, RpcError, unavailable } from '../rpc/errors.ts'
import type { FeedClient, OpenFeed } from '../rpc/feedClient.ts'
import type { Reservation } from '../rpc/memoryBudget.ts'
import { type FeedOptions, feedAddresses, feedMethods, isExecuted } from '../rpc/parameters/feed.ts'
import type { RequestContext } from '../rpc/requestContext.ts'

/** Memory of a feed without a page. */
export const feedBytes = 64 * 1024
/** Time without events after which a client gets a sign of life. uWebSockets closes a response that is silent for 10 s. */
const beatMs = 5000
/** Time after which a page is read again that could not be read, because the node was busy. */
const retryMs = 1000
/** Longest wait of a feed whose app has used up its rate. */
const maxPauseSeconds = 60
/** Bytes of events that a compute unit pays for. */
const bytesPerUnit = 4096
/** Price of a page besides its bytes. */
const pageUnits = 1
/** Price of a page with blocks that are executed. */
const executedPageUnits = 20

/** Pages of a feed, and changes of the head. */
export interface FeedPages {
  /** Number of changes of the head so far. */
  readonly changes: number
  /** Adds a listener for changes. Returns a function that removes it. */
  onChange(listener: () => void): () => void
  /** Returns the number of the best block. */
  head(): number
  page(from: string): Promise<FeedPage>
}

/** A change feed: reads page after page and sends it when the client has read the one before. */
export class Feed implements OpenFeed {
  readonly #pages: FeedPages
  readonly #options: FeedOptions
  readonly #client: FeedClient
  readonly #context: RequestContext
  readonly #held: Reservation
  readonly #onEnd: (defect: unknown) => void
  #first: { readonly page: FeedPage; readonly changes: number } | undefined
  #isClosed = false
  #wake: () => void = () => undefined

  /** `held` holds `feedBytes`. `onEnd` is called once, with the failure of this node that ended the feed, if any. */
  constructor(
    pages: FeedPages,
    options: FeedOptions,
    client: FeedClient,
    context: RequestContext,
    held: Reservation,
    onEnd: (defect: unknown) => void,
  ) {
    this.#pages = pages
    this.#options = options
    this.#client = client
    this.#context = context
    this.#held = held
    this.#onEnd = onEnd
  }

  /** Reads the first page; `waitMs`: time for the block of a cursor to arrive from another node. Rejects with RpcError. */
  async open(waitMs: number): Promise<void> {
    checkAccess(await this.#client.admitted(), this.#options)
    const until = performance.now() + waitMs
    for (;;) {
      const { changes } = this.#pages
      try {
        this.#first = { page: await this.#pages.page(this.#options.from), changes }
        return
      } catch (error) {
        const leftMs = until - performance.now()
        if (!hasCode(error, code.notStored) || this.#isClosed) throw error
        if (leftMs <= 0) throw waitMs > 0 ? this.#late(error) : error
        await this.#pause(Math.min(leftMs, arrivalMs))
      }
    }
  }

  /** Returns the error for a block that has not arrived: it may be on its way if it is above the head of this node. */
  #late(error: unknown): unknown {
    const number = Number(/^(\d+)-/.exec(this.#options.from)?.[1])
    return number > this.#pages.head() ? unavailable(`The node has no block ${number} yet`) : error
  }

  async run(): Promise<void> {
    let defect: unknown
    try {
      await this.#follow()
    } catch (error) {
      if (!(error instanceof RpcError)) defect = error
      if (!this.#isClosed) this.#client.fail(error instanceof RpcError ? error : internalError())
    }
    this.#end(defect)
  }

  close(): void {
    this.#end(undefined)
  }

  #end(defect: unknown): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#context.abort()
    this.#held.release()
    this.#wake()
    this.#onEnd(defect)
  }

  async #follow(): Promise<void> {
    let page = this.#first?.page
    let changes = this.#first?.changes ?? 0
    this.#first = undefined
    while (page !== undefined && !this.#isClosed) {
      await this.#send(page)
      while (page.isAtHead && changes === this.#pages.changes && !this.#isClosed) await this.#waitForChange()
      changes = this.#pages.changes
      page = await this.#read(page.cursor)
    }
  }

  async #send({ events }: FeedPage): Promise<void> {
    this.#held.count(feedBytes + events.length)
    const units = isExecuted(this.#options) ? executedPageUnits : pageUnits
    await this.#pay(units + Math.floor(events.length / bytesPerUnit))
    if (this.#isClosed) return
    // The client learns that its feed has begun also if there are no events yet.
    if (events.length === 0) this.#client.beat()
    else await this.#client.send(events)
    if (!this.#isClosed) this.#held.count(feedBytes)
  }

  /** Pays for a page, or waits until the app can. */
  async #pay(units: number): Promise<void> {
    while (!this.#isClosed) {
      const caller = await this.#client.admitted()
      checkAccess(caller, this.#options)
      this.#context.caller = caller
      const refusal = caller?.pay(0, units)
      if (refusal === undefined) return
      const { retryAfterSeconds = 1 } = refusal
      if (retryAfterSeconds > maxPauseSeconds) throw refusal
      await this.#pause(1000 * retryAfterSeconds)
    }
  }

  async #waitForChange(): Promise<void> {
    const { changes } = this.#pages
    await this.#pause(beatMs)
    if (this.#isClosed || changes !== this.#pages.changes) return
    checkAccess(await this.#client.admitted(), this.#options)
    this.#client.beat()
  }

  /** Reads a page; while the node is busy or its memory is full, again and again. */
  async #read(from: string): Promise<FeedPage | undefined> {
    while (!this.#isClosed) {
      if (this.#held.resize(feedBytes + pageBytes)) {
        try {
          return await this.#pages.page(from)
        } catch (error) {
          if (!hasCode(error, code.limitReached) && !hasCode(error, code.limitExceeded)) throw error
          if (!this.#isClosed) this.#held.count(feedBytes)
        }
      }
      await this.#pause(retryMs)
      this.#client.beat()
    }
    return undefined
  }

  /** Waits for a time, for a change of the head, or for the end of the feed. */
  async #pause(limitMs: number): Promise<void> {
    if (this.#isClosed) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        remove()
        resolve()
      }
      const timer = setTimeout(end, limitMs)
      const remove = this.#pages.onChange(end)
      this.#wake = end
    })
  }
}

/** Time after which the block of a cursor is looked for again: a block beside the best chain changes no head. */
const arrivalMs = 50

/** Throws RpcError unless an app may have a feed. */
function checkAccess(caller: Caller | undefined, options: FeedOptions): void {
  const { contracts, methods } = caller ?? {}
  const refused = methods === undefined ? undefined : feedMethods(options).find((method) => !methods.has(method))
  if (refused !== undefined) throw methodNotAllowed(refused)
  if (contracts === undefined) return
  const isAllowed = (one: string | null) => one !== null && contracts.has(one.toLowerCase())
  if (!feedAddresses(options).every(isAllowed)) throw contractNotAllowed()
}

function hasCode(error: unknown, wanted: number): boolean {
  return error instanceof RpcError && error.code === wanted
}
