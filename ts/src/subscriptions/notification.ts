const head = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"'
const blankId = `0x${'0'.repeat(32)}`

/** Message to many subscriptions: written once, only the id changes. */
export class Notification {
  readonly #bytes: Buffer

  /** `result` is finished JSON. */
  constructor(result: string) {
    this.#bytes = Buffer.from(`${head}${blankId}","result":${result}}}`)
  }

  /** Returns the message for one subscription. The next call overwrites the same bytes: send or copy them before. */
  for(id: string): Buffer {
    this.#bytes.write(id, head.length, 'latin1')
    return this.#bytes
  }
}
