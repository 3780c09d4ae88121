/** An error that the node answered with. */
export class NodeError extends Error {
  override name = 'NodeError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

interface Message {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly params?: { readonly result: unknown }
}

const retryMs = 2000

/** Calls the node over one WebSocket, which is opened again when it closes. */
export class Connection {
  readonly #url: () => string
  readonly #onOpen: () => void
  readonly #onAway: () => void
  readonly #onHead: () => void
  #socket: WebSocket | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  /** `url` is read at each attempt. `onHead` is called for each new head, `onAway` when the node does not answer. */
  constructor(url: () => string, listeners: { onOpen: () => void; onAway: () => void; onHead: () => void }) {
    this.#url = url
    this.#onOpen = listeners.onOpen
    this.#onAway = listeners.onAway
    this.#onHead = listeners.onHead
    this.#open()
  }

  /** Returns the result of a method. Throws NodeError. */
  ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const id = ++this.#lastId
    return new Promise<T>((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) {
        reject(new Error('the node does not answer'))
        return
      }
      this.#waiting.set(id, { resolve: (result) => resolve(result as T), reject })
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  /** Does not wait for the next attempt. */
  retry(): void {
    if (this.#socket?.readyState === WebSocket.CLOSED) this.#open()
  }

  #open(): void {
    clearTimeout(this.#timer)
    const socket = new WebSocket(this.#url())
    this.#socket = socket
    socket.addEventListener('open', () => {
      this.ask('eth_subscribe', 'newHeads').catch(() => undefined)
      this.#onOpen()
    })
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Message))
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the node does not answer'))
      this.#waiting.clear()
      this.#onAway()
      this.#timer = setTimeout(() => this.#open(), retryMs)
    })
  }

  #take({ id, result, error, params }: Message): void {
    if (id === undefined) {
      if (params !== undefined) this.#onHead()
      return
    }
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new NodeError(error.code, error.message))
  }
}
