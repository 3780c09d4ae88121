const head = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"'
const blankId = `0x${'0'.repeat(32)}`

/** A message to many subscriptions: written once, only the id changes from one to the next. */
export class Notification {
  readonly #bytes: Buffer

  /** `result` is finished JSON. */
  constructor(result: string) {
    this.#bytes = Buffer.from(`${head}${blankId}","result":${result}}}`)
  }

  /** The message for one subscription. The next call writes into the same bytes: they have to be sent or copied before. */
  for(id: string): Buffer {
    this.#bytes.write(id, head.length, 'latin1')
    return this.#bytes
  }
}
