import type { Caller } from '../rpc/caller.ts'
import type { RpcError } from '../rpc/errors.ts'
import type { FeedClient } from '../rpc/feedClient.ts'
import type { Subscriber } from '../rpc/subscriber.ts'

const newLine = 10

/** Client of a feed over WebSocket: each event is a notification. */
export class SubscribedClient implements FeedClient {
  readonly isEventStream = false
  readonly #subscriber: Subscriber
  readonly #head: Buffer

  constructor(subscriber: Subscriber, id: string) {
    this.#subscriber = subscriber
    this.#head = Buffer.from(
      `{"jsonrpc":"2.0","method":"rhizome_subscription","params":{"subscription":${JSON.stringify(id)},`,
    )
  }

  // The server of the connection closes it when its key is no longer valid.
  async admitted(): Promise<Caller | undefined> {
    return this.#subscriber.caller
  }

  async send(events: Buffer): Promise<void> {
    let start = 0
    for (;;) {
      const end = events.indexOf(newLine, start)
      if (end < 0) return
      await this.#subscriber.drained()
      this.#subscriber.push([Buffer.concat([this.#head, result, events.subarray(start, end), tail])])
      start = end + 1
    }
  }

  // WebSockets have pings.
  beat(): void {}

  fail({ code, message, data }: RpcError): void {
    const error = JSON.stringify({ code, message, data })
    this.#subscriber.push([Buffer.concat([this.#head, Buffer.from(`"error":${error}`), tail])])
  }
}

const result = Buffer.from('"result":')
const tail = Buffer.from('}}')
