// Times at which a node has its heads, by a subscription.
import { once } from 'node:events'
import { WebSocket } from 'ws'

export class HeadTimes {
  #times = new Map()
  #waiting = new Map()
  #socket

  static async open(url) {
    const heads = new HeadTimes()
    const socket = new WebSocket(url)
    heads.#socket = socket
    await once(socket, 'open')
    const subscribed = once(socket, 'message')
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    await subscribed
    socket.on('message', (bytes) => {
      const now = performance.now()
      const { hash } = JSON.parse(bytes).params.result
      heads.#times.set(hash, now)
      heads.#waiting.get(hash)?.(now)
      heads.#waiting.delete(hash)
    })
    return heads
  }

  /** Resolves with the time of a head in milliseconds. */
  async of(hash) {
    return this.#times.get(hash) ?? new Promise((resolve) => this.#waiting.set(hash, resolve))
  }

  close() {
    this.#socket.terminate()
  }
}
