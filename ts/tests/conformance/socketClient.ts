import { WebSocket } from 'ws'
import { parsed } from './httpClient.ts'
import type { Got } from './judge.ts'

/** Time limit of an expected answer. */
const patienceMs = 10_000
/** Time in which no answer must arrive. */
const silenceMs = 200
/** Time limit for the notification of an event. */
const settleMs = 150
const notificationLimitMs = 3000

/** A WebSocket connection that keeps answers and pushed messages apart. */
export class SocketClient {
  readonly #socket: WebSocket
  readonly #answers: string[] = []
  #pushed: unknown[] = []
  #closed: { code: number; reason: string } | undefined
  #wake: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const text = String(data)
      const message = parsed(text)
      const isPushed = typeof message === 'object' && message !== null && 'method' in message
      if (isPushed) this.#pushed.push(message)
      else this.#answers.push(text)
      this.#wake()
    })
    socket.on('close', (code, reason) => {
      this.#closed = { code, reason: String(reason) }
      this.#wake()
    })
    socket.on('error', () => undefined)
  }

  static open(url: string): Promise<SocketClient> {
    const socket = new WebSocket(url.replace('http', 'ws'))
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('open', () => resolve(new SocketClient(socket)))
    })
  }

  /** Sends a text and returns the next answer. With `isSilent` no answer is expected. */
  async ask(text: string, isSilent: boolean): Promise<Got> {
    this.#socket.send(text)
    await this.#until(() => this.#answers.length > 0 || this.#closed !== undefined, isSilent ? silenceMs : patienceMs)
    const answer = this.#answers.shift() ?? ''
    const got = { text: answer, body: parsed(answer) }
    return this.#closed === undefined ? got : { ...got, closed: this.#closed }
  }

  /** Returns the messages pushed since the previous call, when at least `count` have arrived or the time is over. */
  async pushed(count: number): Promise<unknown[]> {
    await this.#until(() => this.#pushed.length >= count, notificationLimitMs)
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const messages = this.#pushed
    this.#pushed = []
    return messages
  }

  close(): void {
    this.#socket.terminate()
  }

  async #until(isDone: () => boolean, limitMs: number): Promise<void> {
    const end = performance.now() + limitMs
    while (!isDone() && performance.now() < end) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - performance.now())
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}
