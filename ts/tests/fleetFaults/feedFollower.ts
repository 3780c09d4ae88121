import { type FeedEvent, FeedModel, FeedReader } from '../changeFeed.ts'
import type { Incidents } from './incidents.ts'
import { type ChainLog, LogModel } from './logModel.ts'

const pauseMs = 250

export type Contents = 'blocks' | 'blocks,transactions' | 'logs'

/** A client of the change feed behind the balancer. It continues with its cursor after each interruption. */
export class FeedFollower {
  /** Blocks and transactions; without `logs`. */
  readonly chain = new FeedModel()
  readonly logs = new LogModel()
  readonly contents: Contents
  cursor = 'earliest'
  /** Number of events. */
  events = 0
  /** Number of connections after the first one. */
  resumed = 0
  readonly #url: string
  readonly #query: string
  readonly #key: string
  readonly #incidents: Incidents
  readonly #onEvent: (event: FeedEvent) => void
  readonly #following: Promise<void>
  #reader: FeedReader | undefined
  #isEnding = false

  constructor(
    url: string,
    incidents: Incidents,
    {
      contents,
      contract,
      key,
      onEvent = () => undefined,
    }: { contents: Contents; contract: string; key: string; onEvent?: (event: FeedEvent) => void },
  ) {
    this.#url = url
    this.contents = contents
    this.#query = contents === 'logs' ? `what=logs&address=${contract}` : `what=${contents}`
    this.#key = key
    this.#incidents = incidents
    this.#onEvent = onEvent
    const apply = (event: FeedEvent) =>
      contents === 'logs' ? this.logs.apply((event.logs ?? []) as ChainLog[]) : this.chain.apply(event)
    this.#following = this.#follow(apply)
  }

  /** Ends the feed. */
  async end(): Promise<void> {
    this.#isEnding = true
    this.#reader?.close()
    await this.#following
  }

  async #follow(apply: (event: FeedEvent) => void): Promise<void> {
    for (let isFirst = true; !this.#isEnding; isFirst = false) {
      if (!isFirst) this.resumed++
      const opened = performance.now()
      try {
        this.#reader = await FeedReader.open(this.#url, `${this.#query}&from=${this.cursor}`, {
          'x-api-key': this.#key,
        })
        await this.#read(this.#reader, apply)
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        // Refusals other than for lack of a node.
        if (/^4/.test(text)) this.#incidents.fault(`feed from ${this.cursor}: ${text}`, opened)
      }
      if (!this.#isEnding) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async #read(reader: FeedReader, apply: (event: FeedEvent) => void): Promise<void> {
    while (!reader.isClosed && !this.#isEnding) {
      await reader.next()
      for (const event of reader.events.splice(0)) {
        try {
          apply(event)
        } catch (error) {
          this.#incidents.fault(`feed at ${this.cursor}: ${error instanceof Error ? error.message : error}`)
        }
        this.events++
        this.cursor = event.cursor
        this.#onEvent(event)
      }
    }
    if (reader.failure !== undefined) this.#incidents.fault(`feed at ${this.cursor}: ${JSON.stringify(reader.failure)}`)
  }
}
