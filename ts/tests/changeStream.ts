import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { FeedEvent } from './changeFeed.ts'

/** A message of the stream of changes. */
export interface ChangeMessage {
  readonly event: FeedEvent
  readonly previous: string
  readonly contents: string
}

/** A reader of the stream of changes of a chain. */
export class ChangeStream {
  readonly messages: ChangeMessage[] = []
  readonly #connection: NatsConnection
  readonly #streams: JetStreamManager
  readonly #name: string

  private constructor(connection: NatsConnection, streams: JetStreamManager, genesis: string) {
    this.#connection = connection
    this.#streams = streams
    this.#name = `rhizome_${genesis.slice(2)}_changes`
  }

  static async open(url: string, genesis: string): Promise<ChangeStream> {
    const connection = await connect({ servers: url })
    return new ChangeStream(connection, await jetstreamManager(connection), genesis)
  }

  /** Reads until the messages are as expected; the test has a time limit. */
  async until(isThere: (messages: readonly ChangeMessage[]) => boolean): Promise<readonly ChangeMessage[]> {
    for (;;) {
      const info = await this.#streams.streams.info(this.#name).catch(() => undefined)
      while (this.messages.length < (info?.state.last_seq ?? 0)) await this.#read(this.messages.length + 1)
      if (isThere(this.messages)) return this.messages
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #read(sequence: number): Promise<void> {
    const message = await this.#streams.streams.getMessage(this.#name, { seq: sequence })
    if (message === null) throw new Error(`message ${sequence} is gone`)
    const event = message.json<FeedEvent>()
    const [cursor, previous = '', contents = ''] = ['Cursor', 'Previous', 'Contents'].map((name) =>
      message.header.get(`Rhizome-${name}`),
    )
    if (cursor !== event.cursor) throw new Error(`message ${sequence} has the cursor ${cursor}`)
    this.messages.push({ event, previous, contents })
  }
}
