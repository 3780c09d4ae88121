import { WebSocket } from 'ws'
import type { NodePart } from './fleetProcesses.ts'

const pauseMs = 100
const subscribe = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'

/** Times at which the first replica had a block of each height, by subscriptions to all of them. */
export class HeadTimes {
  /** By height, ascending. */
  readonly #heights: { readonly number: number; readonly at: number }[] = []
  readonly #sockets = new Set<WebSocket>()
  #isEnding = false

  constructor(replicas: readonly NodePart[], key: string) {
    for (const replica of replicas) this.#watch(`${replica.url.replace('http', 'ws')}/${key}`)
  }

  /** Returns the highest block that a replica had at a time. */
  at(time: number): number {
    return this.#heights.findLast((one) => one.at <= time)?.number ?? 0
  }

  end(): void {
    this.#isEnding = true
    for (const socket of this.#sockets) socket.terminate()
  }

  /** Subscribes, and again after each end of the connection. */
  #watch(url: string): void {
    if (this.#isEnding) return
    const socket = new WebSocket(url)
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('open', () => socket.send(subscribe))
    socket.on('message', (bytes) => {
      const { params } = JSON.parse(String(bytes)) as { params?: { result: { number: string } } }
      if (params !== undefined) this.#add(Number(params.result.number))
    })
    socket.on('close', () => {
      this.#sockets.delete(socket)
      setTimeout(() => this.#watch(url), pauseMs)
    })
  }

  #add(number: number): void {
    if (number > (this.#heights.at(-1)?.number ?? -1)) this.#heights.push({ number, at: performance.now() })
  }
}
