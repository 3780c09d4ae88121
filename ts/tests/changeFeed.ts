import { request } from 'node:http'

/** An event of a change feed. */
export interface FeedEvent {
  readonly type: string
  readonly cursor: string
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly from: number
  readonly to: number
  readonly steps: number
  readonly block?: { readonly hash: string }
  readonly transactions?: readonly { readonly hash: string }[]
  readonly logs?: readonly object[]
  readonly traces?: readonly object[]
  readonly state?: readonly { readonly transactionHash: string; readonly diff: object }[]
}

/** A client of server-sent events. */
export class FeedReader {
  readonly events: FeedEvent[] = []
  /** Contents of the event that ended the feed. */
  failure: { readonly code: number; readonly message: string } | undefined
  isClosed = false
  readonly #stop: () => void
  readonly pause: () => void
  readonly resume: () => void
  #text = ''
  #onChange: () => void = () => undefined

  private constructor(response: import('node:http').IncomingMessage, stop: () => void) {
    this.#stop = stop
    this.pause = () => response.pause()
    this.resume = () => response.resume()
    response.on('data', (bytes: Buffer) => this.#take(bytes.toString()))
    response.on('close', () => {
      this.isClosed = true
      this.#onChange()
    })
    response.on('error', () => undefined)
  }

  /** Opens a feed. Rejects with status and body of a refusal. */
  static open(url: string, query: string, headers: Record<string, string> = {}): Promise<FeedReader> {
    return new Promise((resolve, reject) => {
      const base = url.replace(/\/$/, '')
      const sent = request(`${base}/feed?${query}`, { headers, agent: false }, (response) => {
        if (response.statusCode === 200) {
          resolve(new FeedReader(response, () => sent.destroy()))
          return
        }
        let body = ''
        response.on('data', (bytes) => {
          body += bytes
        })
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  get cursor(): string {
    return this.events.at(-1)?.cursor ?? ''
  }

  /** Waits until the events are as expected; the test has a time limit. */
  async until(isThere: (events: readonly FeedEvent[]) => boolean): Promise<readonly FeedEvent[]> {
    while (!isThere(this.events)) {
      if (this.isClosed) throw new Error(`the feed was closed after ${this.events.length} events`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return this.events
  }

  /** Waits until there are events, or the feed is closed. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        if (this.events.length > 0 || this.isClosed) resolve()
      }
      this.#onChange()
    })
  }

  close(): void {
    this.#stop()
  }

  #take(text: string): void {
    this.#text += text
    const parts = this.#text.split('\n\n')
    this.#text = parts.pop() ?? ''
    for (const part of parts) {
      const lines = new Map(
        part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      const data = lines.get('data')
      if (data === undefined) continue
      if (lines.get('event') === 'failed') this.failure = JSON.parse(data)
      else {
        const event = JSON.parse(data) as FeedEvent
        if (event.cursor !== lines.get('id') || event.type !== lines.get('event')) throw new Error(`bad event ${part}`)
        this.events.push(event)
      }
    }
    this.#onChange()
  }
}

/** A client that applies events; throws if one does not continue its chain. */
export class FeedModel {
  readonly blocks: { hash: string; parent: string; has: number; steps: number }[] = []
  readonly transactions: string[] = []
  cursor = ''

  apply(event: FeedEvent): void {
    this.cursor = event.cursor
    const { type, hash, parentHash, from, to, steps, transactions = [] } = event
    if (type === 'progress') return
    const last = this.blocks.at(-1)
    const hashes = transactions.map((one) => one.hash)
    if (type === 'enacted' && from === 0) {
      if (last !== undefined && (last.hash !== parentHash || last.has !== last.steps))
        throw new Error(`no child: ${hash}`)
      this.blocks.push({ hash, parent: parentHash, has: to, steps })
      this.transactions.push(...hashes)
    } else {
      if (last?.hash !== hash || last.has !== from) throw new Error(`not the last block: ${type} ${hash} ${from}`)
      last.has = to
      if (type === 'enacted') this.transactions.push(...hashes)
      else for (const one of hashes) if (this.transactions.pop() !== one) throw new Error(`not the last: ${one}`)
      if (to === 0) this.blocks.pop()
    }
  }
}
