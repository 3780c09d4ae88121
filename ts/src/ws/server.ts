import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Credential, Keyring } from '../auth/keyring.ts'
import { bodyText } from '../rpc/bodyText.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, internalError, limitReached, RpcError } from '../rpc/errors.ts'
import { Flight } from '../rpc/flight.ts'
import type { BodyServer, Reply } from '../rpc/serve.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { goingAway, messageTooLarge, notAuthenticated } from './closing.ts'
import { Connection, type SocketData } from './connection.ts'
import type { WebSocketSettings } from './settings.ts'

interface Refusal {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** What a WebSocket server is put together with. */
export interface WebSocketParts {
  readonly bodies: BodyServer
  readonly keyring: Keyring
  /** Sends a refusal and returns undefined when the caller may not connect. */
  readonly admit: (response: HttpResponse, request: HttpRequest) => Credential | undefined
  /** Sends a refusal to a caller who was admitted. */
  readonly refuse: (response: HttpResponse, outgoing: Refusal) => void
  /** What has to be called when a connection closes that becomes a WebSocket now. */
  readonly releaseOf: (response: HttpResponse) => () => void
  /** The pattern of the routes that upgrades come to. */
  readonly path: string
  readonly cancel: (ticket: number) => void
  /** Called when an HTTP connection has become a WebSocket. */
  readonly onUpgraded: () => void
  /** Called when a connection has closed. */
  readonly forget: (subscriber: Subscriber) => void
  /** One number: the open connections of all workers. */
  readonly openSockets: Int32Array
}

/** One worker's WebSocket side, on the port of its HTTP side: the same requests, and a way to tell things unasked. */
export class WebSocketServer {
  readonly #parts: WebSocketParts
  readonly #settings: WebSocketSettings
  readonly #connections = new Set<Connection>()

  constructor(parts: WebSocketParts, settings: WebSocketSettings) {
    this.#parts = parts
    this.#settings = settings
    parts.keyring.onReplaced(() => this.#removeStrangers())
  }

  /** Takes the upgrades that come to this app. */
  attach(app: TemplatedApp): void {
    const settings = this.#settings
    app.ws<SocketData>(this.#parts.path, {
      // uWebSockets hangs up without a word above this. What is a little too large is told so.
      maxPayloadLength: 2 * settings.maxMessageBytes,
      // Connection decides; here a limit would drop messages silently.
      maxBackpressure: 0,
      idleTimeout: settings.idleSeconds,
      sendPingsAutomatically: true,
      upgrade: (response, request, context) => this.#onUpgrade(response, request, context),
      open: (socket) => this.#onOpen(socket),
      message: (socket, message) => this.#onMessage(connectionOf(socket), Buffer.from(message)),
      close: (socket) => {
        socket.getUserData().release()
        this.#onClose(connectionOf(socket))
      },
    })
  }

  /** Requests that are not answered yet. */
  get running(): number {
    let running = 0
    for (const connection of this.#connections) running += connection.flights.size
    return running
  }

  /** Tells every client that the server goes away, and hangs up. */
  end(): void {
    for (const connection of this.#connections) connection.end(goingAway)
  }

  /** Subscriptions would go on for who asks nothing. */
  #removeStrangers(): void {
    for (const connection of this.#connections) {
      if (!this.#parts.keyring.isGood(connection.credential)) connection.end(notAuthenticated)
    }
  }

  #onUpgrade(response: HttpResponse, request: HttpRequest, context: us_socket_context_t): void {
    const { admit, openSockets, refuse, releaseOf } = this.#parts
    const credential = admit(response, request)
    if (credential === undefined) return
    if (request.getHeader('sec-websocket-version') !== '13') {
      const error = new RpcError(code.invalidRequest, 'WebSocket version 13 is spoken')
      refuse(response, {
        status: 426,
        headers: [['Sec-WebSocket-Version', '13']],
        body: writeError('null', error, false),
      })
      return
    }
    if (Atomics.add(openSockets, 0, 1) >= this.#settings.maxConnections) {
      Atomics.sub(openSockets, 0, 1)
      const error = limitReached(`Too many connections: ${this.#settings.maxConnections} are open`)
      refuse(response, { status: 503, headers: [['Retry-After', '1']], body: writeError('null', error, false) })
      return
    }
    response.upgrade<SocketData>(
      { credential, release: releaseOf(response) },
      request.getHeader('sec-websocket-key'),
      '',
      '',
      context,
    )
  }

  #onOpen(socket: WebSocket<SocketData>): void {
    const connection = new Connection(socket, this.#settings.maxBufferedBytes)
    socket.getUserData().connection = connection
    this.#connections.add(connection)
    this.#parts.onUpgraded()
  }

  /** uWebSockets takes the bytes back when this returns: they are decoded at once. Binary messages are read as text, too. */
  #onMessage(connection: Connection, message: Buffer): void {
    const { maxMessageBytes, maxRequests, timeoutMs } = this.#settings
    if (!this.#parts.keyring.isGood(connection.credential)) {
      connection.end(notAuthenticated)
      return
    }
    if (message.length > maxMessageBytes) {
      connection.end(messageTooLarge(maxMessageBytes))
      return
    }
    const text = bodyText(message)
    if (text === undefined) {
      connection.send(writeError('null', new RpcError(code.parseError, 'JSON parse error'), false))
      return
    }
    const flight = new Flight(timeoutMs, this.#parts.cancel)
    flight.subscriber = connection
    if (connection.flights.size >= maxRequests) flight.refusal = limitReached(`Too many requests: ${maxRequests} wait`)
    const reply = this.#parts.bodies.serve(text, flight)
    if (reply instanceof Promise) void this.#sendLater(connection, reply, flight)
    else if (reply.answer !== undefined) connection.send(reply.answer)
  }

  async #sendLater(connection: Connection, promised: Promise<Reply>, flight: Flight): Promise<void> {
    connection.flights.add(flight)
    const { answer } = await promised.catch(() => defect)
    connection.flights.delete(flight)
    if (answer !== undefined) connection.send(answer)
  }

  #onClose(connection: Connection): void {
    Atomics.sub(this.#parts.openSockets, 0, 1)
    this.#connections.delete(connection)
    connection.onClosed()
    this.#parts.forget(connection)
  }
}

const defect: Reply = { answer: writeError('null', internalError(), false), error: undefined }

function connectionOf(socket: WebSocket<SocketData>): Connection {
  const { connection } = socket.getUserData()
  if (connection === undefined) throw new TypeError('a socket without its connection')
  return connection
}
