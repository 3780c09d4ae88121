import { connect, type Socket } from 'node:net'
import { type ClientOptions, WebSocket } from 'ws'

/** Close code and reason of a connection. */
export interface Closed {
  readonly code: number
  readonly reason: string
}

export interface Notification {
  readonly jsonrpc: '2.0'
  readonly method: 'eth_subscription' | 'rhizome_subscription'
  readonly params: { readonly subscription: string; readonly result: unknown }
}

interface Answer {
  readonly jsonrpc: '2.0'
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A WebSocket client that keeps notifications and answers apart. */
export class Client {
  readonly socket: WebSocket
  readonly closed: Promise<Closed>
  /** Notifications that were not read yet. */
  notifications: Notification[] = []
  readonly #answers: string[] = []
  #onMessage: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.socket = socket
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() })
        this.#onMessage()
      })
    })
    socket.on('error', () => undefined)
    socket.on('message', (bytes) => {
      const text = bytes.toString()
      if (/"(eth|rhizome)_subscription"/.test(text)) this.notifications.push(JSON.parse(text) as Notification)
      else this.#answers.push(text)
      this.#onMessage()
    })
  }

  /** Connects to the URL of a node. Rejects with the HTTP answer if the upgrade is refused. */
  static async open(url: string, options: ClientOptions = {}): Promise<Client> {
    const socket = new WebSocket(url.replace('http', 'ws'), options)
    const client = new Client(socket)
    await new Promise<void>((resolve, reject) => {
      socket.on('open', resolve)
      socket.on('unexpected-response', (_request, response) => {
        let body = ''
        response.on('data', (bytes) => {
          body += bytes
        })
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)))
      })
      socket.on('error', reject)
    })
    return client
  }

  /** Sends text or bytes unchanged and returns the next answer; undefined if the connection closes instead. */
  async exchange(message: string | Buffer): Promise<Answer | undefined> {
    this.socket.send(message)
    return this.next()
  }

  /** Waits for the next answer; undefined after the time limit or when the connection closes. */
  async next(timeoutMs = 10_000): Promise<Answer | undefined> {
    await this.#until(() => this.#answers.length > 0 || this.socket.readyState > WebSocket.OPEN, timeoutMs)
    const text = this.#answers.shift()
    return text === undefined ? undefined : (JSON.parse(text) as Answer)
  }

  async result<T>(method: string, params: unknown[] = []): Promise<T> {
    const answer = await this.exchange(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    if (answer?.error !== undefined) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`)
    return answer?.result as T
  }

  /** Waits for `count` notifications, then takes all. */
  async take(count: number): Promise<Notification[]> {
    await this.#until(() => this.notifications.length >= count, 10_000)
    return this.notifications.splice(0)
  }

  async close(): Promise<Closed> {
    this.socket.close()
    return this.closed
  }

  #until(isDone: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer)
        this.#onMessage = () => undefined
        resolve()
      }
      const timer = setTimeout(finish, timeoutMs)
      this.#onMessage = () => {
        if (isDone()) finish()
      }
      this.#onMessage()
    })
  }
}

/** Opens a connection and completes the handshake, for frames that no client sends. */
export async function shakenHands(
  url: string,
): Promise<{ socket: Socket; received: () => Buffer; closed: Promise<void> }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let bytes = Buffer.alloc(0)
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.write(
    `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
  await new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece])
      if (bytes.includes('\r\n\r\n')) resolve()
    })
  })
  if (!bytes.includes('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')) throw new Error(`no handshake: ${bytes.toString('latin1')}`)
  bytes = Buffer.alloc(0)
  return { socket, received: () => bytes, closed }
}
