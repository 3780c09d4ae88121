import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Admission, Keyring, Refusal } from '../auth/keyring.ts'
import { networkOf } from '../config/addressRanges.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, internalError, limitReached, overloaded, RpcError, unavailable } from '../rpc/errors.ts'
import { type LargeBody, maxParsedBytes } from '../rpc/largeBody.ts'
import { type MemoryBudget, uncounted } from '../rpc/memoryBudget.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import type { BodyServer, Reply } from '../rpc/serve.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { goingAway, messageTooLarge, notAuthenticated } from './closing.ts'
import { Connection, type ConnectionParts, maxSocketBytes, type SocketData } from './connection.ts'
import { maxPayloadFactor, type WebSocketSettings } from './settings.ts'

interface RefusedUpgrade {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Dependencies of a WebSocket server. */
export interface WebSocketParts {
  readonly bodies: BodyServer
  readonly keyring: Keyring
  /** Authorises an upgrade: calls `onAdmitted`, or sends the error response. */
  readonly admit: (response: HttpResponse, request: HttpRequest, onAdmitted: (admission: Admission) => void) => void
  /** Refuses an authorised upgrade. */
  readonly refuse: (response: HttpResponse, outgoing: RefusedUpgrade) => void
  /** Returns the function to call when a connection closes that becomes a WebSocket. */
  readonly releaseOf: (response: HttpResponse) => () => void
  /** The pattern of the upgrade routes. */
  readonly path: string
  readonly cancel: (token: number) => void
  /** Called when an HTTP connection has become a WebSocket. */
  readonly onUpgraded: () => void
  /** Called when a connection is closed because its key, its token or its app no longer admits it. */
  readonly onUnauthenticated: () => void
  /** Called when a connection has closed. */
  readonly forget: (subscriber: Subscriber) => void
  /** Counts the bytes of messages and answers in memory. */
  readonly memory: MemoryBudget
  /** Frees buffers that were sent. */
  readonly releaseBuffers: (buffers: readonly Buffer[]) => void
  /** One shared number: the open connections of all workers. */
  readonly openSockets: Int32Array
}

/** The WebSocket server of one address in one worker, on the port of the HTTP server. Serves the same requests and subscriptions. */
export class WebSocketServer {
  readonly #parts: WebSocketParts
  readonly #settings: WebSocketSettings
  readonly #connections = new Set<Connection>()
  readonly #shared: ConnectionParts
  readonly #expiryTimer: NodeJS.Timeout

  constructor(parts: WebSocketParts, settings: WebSocketSettings) {
    this.#parts = parts
    this.#settings = settings
    const { memory, releaseBuffers } = parts
    this.#shared = { limits: settings, unread: { bytes: 0 }, memory, releaseBuffers }
    parts.keyring.onReplaced(() => this.#closeUnauthorised())
    // Nothing reports the expiry of a token.
    this.#expiryTimer = setInterval(() => this.#closeUnauthorised(), expiryCheckMs).unref()
  }

  /** Adds the WebSocket route to an app. */
  attach(app: TemplatedApp): void {
    const settings = this.#settings
    app.ws<SocketData>(this.#parts.path, {
      maxPayloadLength: maxPayloadFactor * settings.maxMessageBytes,
      maxBackpressure: maxSocketBytes,
      idleTimeout: settings.idleSeconds,
      sendPingsAutomatically: true,
      upgrade: (response, request, context) => this.#onUpgrade(response, request, context),
      open: (socket) => this.#onOpen(socket),
      message: (socket, message) => this.#onMessage(connectionOf(socket), Buffer.from(message)),
      drain: (socket) => connectionOf(socket).onDrained(),
      close: (socket) => this.#onClose(connectionOf(socket)),
    })
  }

  /** Returns the number of unanswered requests. */
  get running(): number {
    let running = 0
    for (const connection of this.#connections) running += connection.requests.size
    return running
  }

  /** Closes every connection with 1001. */
  end(): void {
    clearInterval(this.#expiryTimer)
    for (const connection of this.#connections) connection.end(goingAway)
  }

  /** Renews the admission of every connection. A connection that only receives notifications is checked nowhere else. */
  #closeUnauthorised(): void {
    for (const connection of this.#connections) {
      const admitted = this.#parts.keyring.renew(connection.admission)
      if (admitted instanceof Promise) void admitted.then((one) => this.#settle(connection, one))
      else this.#settle(connection, admitted)
    }
  }

  #onUpgrade(response: HttpResponse, request: HttpRequest, context: us_socket_context_t): void {
    const key = request.getHeader('sec-websocket-key')
    const protocol = protocolOf(request.getHeader('sec-websocket-protocol'))
    const version = request.getHeader('sec-websocket-version')
    const { admit, refuse, releaseOf } = this.#parts
    admit(response, request, (admission) => {
      const refusal = this.#refusal(version)
      if (refusal !== undefined) {
        refuse(response, refusal)
        return
      }
      response.upgrade<SocketData>(
        { admission, network: networkOf(admission.client?.source ?? ''), release: releaseOf(response) },
        key,
        protocol,
        '',
        context,
      )
    })
  }

  /** Returns the refusal of an upgrade with another protocol version, or beyond the connection limit. */
  #refusal(version: string): RefusedUpgrade | undefined {
    const { openSockets } = this.#parts
    if (version !== '13') {
      const error = new RpcError(code.invalidRequest, 'WebSocket version 13 is spoken')
      const headers = [['Sec-WebSocket-Version', '13']] as const
      return { status: 426, headers, body: writeError('null', error, false) }
    }
    if (Atomics.add(openSockets, 0, 1) >= this.#settings.maxConnections) {
      Atomics.sub(openSockets, 0, 1)
      const error = limitReached(`Too many connections: ${this.#settings.maxConnections} are open`)
      return { status: 503, headers: [['Retry-After', '1']], body: writeError('null', error, false) }
    }
    return undefined
  }

  #onOpen(socket: WebSocket<SocketData>): void {
    const connection = new Connection(socket, this.#shared)
    socket.getUserData().connection = connection
    this.#connections.add(connection)
    this.#parts.onUpgraded()
  }

  /** Serves a message. Its bytes are valid only until this returns. Binary messages are read as text, too. */
  #onMessage(connection: Connection, message: Buffer): void {
    const { maxMessageBytes } = this.#settings
    if (message.length > maxMessageBytes) {
      connection.end(messageTooLarge(maxMessageBytes))
      return
    }
    const admitted = this.#parts.keyring.renew(connection.admission)
    const body = message.length > maxParsedBytes ? this.#largeBody(message) : message
    const kept = body === message && admitted instanceof Promise ? Buffer.from(message) : body
    const finish = (one: Admission | Refusal): void => {
      // The client may have disconnected: a subscription made now would never be removed.
      if (this.#settle(connection, one) && this.#connections.has(connection)) this.#serve(connection, kept)
      else close(kept)
    }
    if (admitted instanceof Promise) void admitted.then(finish)
    else finish(admitted)
  }

  /** Stores the renewed admission of a connection and returns true, or closes the connection and returns false. */
  #settle(connection: Connection, admitted: Admission | Refusal): boolean {
    if (typeof admitted !== 'string') {
      connection.admission = admitted
      return true
    }
    this.#parts.onUnauthenticated()
    connection.end(notAuthenticated)
    return false
  }

  #largeBody(message: Buffer): LargeBody {
    const body = this.#parts.bodies.openLarge()
    body.add(message)
    return body
  }

  #serve(connection: Connection, body: Buffer | LargeBody): void {
    const { maxRequests, timeoutMs } = this.#settings
    const context = new RequestContext(timeoutMs, this.#parts.cancel)
    context.subscriber = connection
    context.connection = connection.number
    context.caller = connection.admission.caller
    if (connection.requests.size >= maxRequests)
      context.refusal = limitReached(`Too many requests: ${maxRequests} wait`)
    context.readNetwork = () => connection.network
    const { memory } = this.#parts
    const isAlone = connection.requests.size === 0
    let held = isAlone ? memory.reserveRequest(context, body.length) : memory.reserveBehind(context, body.length)
    if (held === undefined) context.refusal = overloaded()
    if (this.#parts.keyring.isWithheld) context.refusal = unavailable('The store of API keys is away')
    const reply = this.#parts.bodies.serve(body, context)
    const release = (): void => {
      close(body)
      held?.release()
    }
    if (reply instanceof Promise) {
      // Most small requests are answered at once and cost no count.
      if (held === uncounted) held = memory.countWaiting(context, body.length)
      void this.#sendLater(connection, reply, context, release)
    } else {
      release()
      if (reply.answer !== undefined) connection.send(reply.answer)
    }
  }

  async #sendLater(
    connection: Connection,
    promised: Promise<Reply>,
    context: RequestContext,
    release: () => void,
  ): Promise<void> {
    connection.requests.add(context)
    const { answer } = await promised.catch(() => defect)
    connection.requests.delete(context)
    release()
    if (answer !== undefined) connection.send(answer)
  }

  #onClose(connection: Connection): void {
    Atomics.sub(this.#parts.openSockets, 0, 1)
    this.#connections.delete(connection)
    connection.onClosed()
    this.#parts.forget(connection)
  }
}

const expiryCheckMs = 1000

/** Returns the protocol to agree on: the first of two when the second is the token of a web page. */
function protocolOf(protocols: string): string {
  return /^bearer *,/i.exec(protocols) === null ? '' : protocols.slice(0, 'bearer'.length)
}

const defect: Reply = { answer: writeError('null', internalError(), false), error: undefined }

function connectionOf(socket: WebSocket<SocketData>): Connection {
  const { connection } = socket.getUserData()
  if (connection === undefined) throw new TypeError('a socket without its connection')
  return connection
}
function close(body: Buffer | LargeBody): void {
  if (!Buffer.isBuffer(body)) body.close()
}
