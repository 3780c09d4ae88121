// A client of a change feed that counts logs without parsing events.
import { request } from 'node:http'

const logMark = Buffer.from('"logIndex":')

export class FeedClient {
  logs = 0
  bytes = 0
  /** Time of the last bytes in milliseconds. */
  lastMs = 0
  #tail = Buffer.alloc(0)
  #sent
  #listeners = new Set()

  /** Opens a feed. Rejects with the body of a refusal. */
  static open(url, query) {
    const client = new FeedClient()
    return new Promise((resolve, reject) => {
      client.#sent = request(`${url.replace(/\/$/, '')}/feed?${query}`, { agent: false }, (response) => {
        response.on('error', () => undefined)
        if (response.statusCode === 200) {
          response.on('data', (bytes) => client.#take(bytes))
          resolve(client)
          return
        }
        response.setEncoding('utf8').on('data', (text) => reject(new Error(`${response.statusCode} ${text}`)))
      })
      client.#sent.on('error', reject)
      client.#sent.end()
    })
  }

  /** Resolves when the client has a number of logs, and the text if there is one. */
  async until(logs, text = '') {
    while (this.logs < logs || !this.#tail.includes(text)) await new Promise((resolve) => this.#listeners.add(resolve))
  }

  close() {
    this.#sent.destroy()
  }

  #take(bytes) {
    this.bytes += bytes.length
    this.lastMs = performance.now()
    // A mark may be in two parts.
    const text = Buffer.concat([this.#tail.subarray(-logMark.length + 1), bytes])
    for (let at = text.indexOf(logMark); at >= 0; at = text.indexOf(logMark, at + 1)) this.logs++
    this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-400)
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }
}
