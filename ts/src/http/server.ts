import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { Admission, KeyEntry, Keyring, Refusal } from '../auth/keyring.ts'
import { isLoopback } from '../config/addresses.ts'
import { AddressRanges, networkOf } from '../config/addressRanges.ts'
import type { Health } from '../observe/health.ts'
import type { Answer } from '../rpc/envelope.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, internalError, overloaded, RpcError, unavailable } from '../rpc/errors.ts'
import { Flight } from '../rpc/flight.ts'
import { type MemoryBudget, uncounted } from '../rpc/memoryBudget.ts'
import { isRequestId } from '../rpc/requestId.ts'
import type { BodyServer, Reply } from '../rpc/serve.ts'
import { admissionRefused, refused, visitorOf, withLimits } from './admission.ts'
import { apiKeyOf } from './apiKey.ts'
import { type Body, Intake, owned, readBody } from './body.ts'
import { clientAddress, peerAddress } from './clientAddress.ts'
import { compressed, isWorthCompressing } from './compression.ts'
import { type Connections, routesBehind } from './connections.ts'
import { framingOf } from './framing.ts'
import { LargeAnswers } from './largeAnswers.ts'
import { isJson } from './mediaType.ts'
import { isHostAllowed, isOriginAllowed } from './origin.ts'
import { closeBehind, type Headers, heldBy, hold, isLastOf, type Outgoing, onAborted, send } from './reply.ts'
import type { HttpSettings } from './settings.ts'

const noHeaders: Headers = []
const badRequestCodes: readonly number[] = [code.parseError, code.invalidRequest, code.invalidParams]

/** What an HTTP server is put together with. */
export interface HttpParts {
  readonly cancel: (ticket: number) => void
  readonly health: () => Health
  /** Called with 1 when a connection opens, with -1 when it closes, unless it became a WebSocket. */
  readonly onConnections: (change: number) => void
  /** Called with the HTTP status of each answer that has one from 400 on; health checks are left out. */
  readonly onErrorStatus?: (status: number) => void
  /** Proxies that tell whom they speak for. */
  readonly trusted?: AddressRanges
  /** Where the bytes that wait are counted. */
  readonly memory: MemoryBudget
  /** Absent: connections of one client are not counted. */
  readonly connections?: Connections | undefined
}

type Route = (response: HttpResponse, request: HttpRequest) => void

/** One worker's HTTP side: takes requests off the socket and writes answers. Knows no method. */
export class HttpServer {
  readonly #bodies: BodyServer
  readonly #keyring: Keyring
  readonly #settings: HttpSettings
  readonly #cancel: (ticket: number) => void
  readonly #health: () => Health
  readonly #onConnections: (change: number) => void
  readonly #onErrorStatus: (status: number) => void
  readonly #trusted: AddressRanges
  readonly #connections: Connections | undefined
  readonly #memory: MemoryBudget
  readonly #answers: LargeAnswers
  readonly #intake = new Intake()
  #running = 0

  constructor(
    bodies: BodyServer,
    keyring: Keyring,
    settings: HttpSettings,
    {
      cancel,
      health,
      onConnections,
      onErrorStatus = () => undefined,
      trusted = new AddressRanges([]),
      connections,
      memory,
    }: HttpParts,
  ) {
    this.#bodies = bodies
    this.#keyring = keyring
    this.#settings = settings
    this.#cancel = cancel
    this.#health = health
    this.#onConnections = onConnections
    this.#onErrorStatus = onErrorStatus
    this.#trusted = trusted
    this.#connections = connections
    this.#memory = memory
    this.#answers = new LargeAnswers(settings, memory)
  }

  /** Answers what comes to this app. */
  attach(app: TemplatedApp): void {
    app.filter((_response, change) => this.#onConnections(Number(change)))
    this.#connections?.attach(app)
    const path = this.path
    const onOther = this.#held((response, request) => this.#onOther(response, request))
    app.post(
      path,
      this.#held((response, request) => this.#onPost(response, request)),
    )
    app.options(
      path,
      this.#held((response, request) => this.#onOptions(response, request)),
    )
    app.get(path, onOther)
    app.head(path, onOther)
    // Looked at after those of a method, whatever their patterns.
    app.any('/*', onOther)
  }

  /** Counts the connection where that is wanted, and looks at the framing, before the route sees the request. */
  #held(route: Route): Route {
    const connections = this.#connections
    return (response, request) => {
      if (connections !== undefined) {
        const held = connections.hold(response)
        if (held === 'closed') return
        hold(response, held)
      }
      const framing = framingOf(request)
      if (framing === 'ambiguous') {
        this.#refuse(response, unclear)
        return
      }
      // What uWebSockets takes for the end of chunks another server may not: nothing behind them is read.
      if (framing === 'chunked') closeBehind(response)
      route(response, request)
    }
  }

  /** Requests that are not answered yet. */
  get running(): number {
    return this.#running
  }

  /**
   * Calls back with what a caller who wants to connect is let in with. Answers himself when `Host`, `Origin`, the key or the
   * policy of its app keep him out.
   */
  admit(response: HttpResponse, request: HttpRequest, onAdmitted: (admission: Admission) => void): void {
    const held = this.#connections?.hold(response)
    if (held === 'closed') return
    hold(response, held)
    if (framingOf(request) !== 'plain') {
      this.#refuse(response, unclear)
      return
    }
    const origin = request.getHeader('origin')
    const key = this.#recognise(response, request, origin)
    if (key === undefined) return
    const headers = this.#corsHeaders(origin)
    const visitor = visitorOf(response, request, this.#trusted)
    const finish = (admitted: Admission | Refusal): void => {
      if (typeof admitted === 'string') this.#refuse(response, admissionRefused(admitted, headers))
      // The connection stays: what may matter later is kept, too.
      else onAdmitted({ ...admitted, visitor })
    }
    const admitted = this.#keyring.admit(key, visitor)
    if (!(admitted instanceof Promise)) {
      finish(admitted)
      return
    }
    let isGone = false
    onAborted(response, () => {
      isGone = true
    })
    admitted.then(
      (one) => isGone || response.cork(() => finish(one)),
      () => isGone || this.#refuse(response, this.#outgoing(defect, headers)),
    )
  }

  /** The pattern of all routes. */
  get path(): string {
    return this.#connections === undefined ? '/*' : routesBehind
  }

  /** Refuses an upgrade of somebody who was admitted. */
  refuse(response: HttpResponse, outgoing: Outgoing): void {
    this.#refuse(response, outgoing)
  }

  /** Sends a response with an error status, and counts it. */
  #refuse(response: HttpResponse, outgoing: Outgoing): void {
    this.#onErrorStatus(outgoing.status)
    send(response, outgoing)
  }

  /** What has to be called when a connection closes that becomes a WebSocket now. */
  releaseOf(response: HttpResponse): () => void {
    return heldBy(response)?.release ?? (() => undefined)
  }

  /** What neither POST nor OPTIONS asks for. */
  #onOther(response: HttpResponse, request: HttpRequest): void {
    const method = request.getMethod()
    if (request.getUrl() === '/health' && (method === 'get' || method === 'head')) {
      this.#onHealth(response, request)
      return
    }
    const error = new RpcError(code.invalidRequest, 'JSON-RPC requests are sent with POST')
    const body = method === 'head' ? undefined : writeError('null', error, false)
    this.#refuse(response, { status: 405, headers: [['Allow', 'POST, OPTIONS']], body })
  }

  #onHealth(response: HttpResponse, request: HttpRequest): void {
    const origin = request.getHeader('origin')
    // Balancers ask without a key, and are told nothing that the chain does not tell everybody.
    const refusal = this.#pageRefusal(request, origin)
    if (refusal !== undefined) {
      this.#refuse(response, refusal)
      return
    }
    const health = this.#health()
    const isHead = request.getMethod() === 'head'
    send(response, {
      status: health.ready ? 200 : 503,
      headers: [['Cache-Control', 'no-store'], ...this.#corsHeaders(origin)],
      body: isHead ? undefined : JSON.stringify(health),
    })
  }

  #onPost(response: HttpResponse, request: HttpRequest): void {
    const origin = request.getHeader('origin')
    const key = this.#recognise(response, request, origin)
    if (key === undefined) return
    const refusal = this.#bodyRefusal(request, origin)
    if (refusal !== undefined) {
      this.#refuse(response, refusal)
      return
    }
    const admitted = key.admission ?? this.#keyring.admit(key, visitorOf(response, request, this.#trusted))
    if (typeof admitted === 'string') {
      this.#refuse(response, admissionRefused(admitted, this.#corsHeaders(origin)))
      return
    }
    const headers = origin === '' ? noHeaders : this.#corsHeaders(origin)
    const encoding = this.#settings.compression === 'none' ? '' : request.getHeader('accept-encoding')
    const flight = new Flight(this.#settings.timeoutMs, this.#cancel)
    const sentId = request.getHeader('x-request-id')
    if (sentId !== '' && isRequestId(sentId)) flight.id = sentId
    flight.readNetwork = this.#networkReader(response, request, flight)
    const { maxBodyBytes: maxBytes, bodyMs: timeMs } = this.#settings
    if (!(admitted instanceof Promise)) flight.caller = admitted.caller
    const open = () => this.#memory.open(flight.client)
    const serve = (body: Body): void => {
      // A body may come so slowly that the key has ended meanwhile.
      const renew = (one: Admission | Refusal) => (typeof one === 'string' ? one : this.#keyring.renew(one))
      const still = admitted instanceof Promise ? admitted.then(renew) : renew(admitted)
      const kept = still instanceof Promise ? owned(body) : body
      const drop = (): void => {
        if ('held' in body) body.held?.release()
      }
      const finish = (one: Admission | Refusal): void => {
        if (flight.isAborted) {
          drop()
          return
        }
        if (typeof one === 'string') {
          drop()
          this.#refuse(response, admissionRefused(one, headers))
          return
        }
        flight.caller = one.caller
        this.#answer(response, kept, flight, headers, encoding)
      }
      if (still instanceof Promise) {
        still.then(finish, () => {
          drop()
          if (!flight.isAborted) this.#refuse(response, this.#outgoing(defect, headers))
        })
      } else finish(still)
    }
    // The answer to chunks waits until the packet is read to its end: see `send`.
    const serveLater = (body: Body): unknown => setImmediate(serve, owned(body))
    const limits = { maxBytes, timeMs, open, intake: this.#intake }
    const stopReading = readBody(response, limits, isLastOf(response) ? serveLater : serve)
    onAborted(response, () => {
      stopReading()
      flight.abort()
    })
  }

  /** The key of a request; undefined for a stranger, who is answered. Where nobody is asked, it is not searched for one. */
  #recognise(response: HttpResponse, request: HttpRequest, origin: string): KeyEntry | undefined {
    const key = this.#keyring.identify(this.#keyring.isOpen ? '' : apiKeyOf(request))
    const page = this.#pageRefusal(request, origin)
    if (page !== undefined) this.#refuse(response, page)
    else if (this.#keyring.isWithheld) this.#refuse(response, this.#outgoing(keysAway, this.#corsHeaders(origin)))
    else if (key === undefined) this.#refuse(response, admissionRefused('key', this.#corsHeaders(origin)))
    else return key
    return undefined
  }

  /** Of a body that is not worth reading. */
  #bodyRefusal(request: HttpRequest, origin: string): Outgoing | undefined {
    const { maxBodyBytes } = this.#settings
    if (!isJson(request.getHeader('content-type'))) {
      return refused(415, 'Content-Type must be application/json', this.#corsHeaders(origin))
    }
    if (Number(request.getHeader('content-length')) > maxBodyBytes) return this.#tooLarge(this.#corsHeaders(origin))
    return undefined
  }

  /** Of a web page that must not reach this node. */
  #pageRefusal(request: HttpRequest, origin: string): Outgoing | undefined {
    const { hosts, cors } = this.#settings
    if (!hosts.includes('*') && !isHostAllowed(request.getHeader('host'), hosts))
      return refused(403, 'Host not allowed')
    return origin !== '' && !isOriginAllowed(origin, cors) ? refused(403, 'Origin not allowed') : undefined
  }

  #answer(response: HttpResponse, body: Body, flight: Flight, headers: Headers, encoding: string): void {
    if ('fault' in body) {
      // Who sends more than was agreed may go on for ever: nobody listens.
      if (body.fault === 'too large') this.#refuse(response, { ...this.#tooLarge(headers), isLast: true })
      else if (body.fault === 'no memory')
        this.#refuse(response, { ...this.#outgoing(noMemory, headers), isLast: true })
      else this.#refuse(response, { ...this.#tooSlow(headers), isLast: true })
      return
    }
    const held = body.held ?? this.#memory.reserveRequest(flight, body.bytes.length)
    if (held === undefined) {
      this.#refuse(response, this.#outgoing(noMemory, headers))
      return
    }
    this.#running++
    const reply = this.#bodies.serve(body.bytes, flight)
    if (reply instanceof Promise) {
      if (held !== uncounted) void reply.finally(() => held.release()).catch(() => undefined)
      reply.then(
        (finished) => this.#finish(response, finished, flight, headers, encoding),
        () => this.#finish(response, defect, flight, headers, encoding),
      )
    } else {
      held.release()
      this.#finish(response, reply, flight, headers, encoding)
    }
  }

  /** Behind trusted proxies the address stands in a header, which can be read now only. */
  #networkReader(response: HttpResponse, request: HttpRequest, flight: Flight): () => string {
    if (this.#trusted.isEmpty) return () => (flight.isAborted ? '' : networkOf(peerAddress(response)))
    const network = networkOf(clientAddress(response, request, this.#trusted))
    return () => network
  }

  #finish(response: HttpResponse, reply: Reply, flight: Flight, cors: Headers, encoding: string): void {
    this.#running--
    if (flight.isAborted) return
    const { answer } = reply
    const hasFailed = flight.error !== undefined || reply.error !== undefined
    const named: Headers = hasFailed ? [...cors, ['X-Request-Id', flight.id]] : cors
    const headers = flight.caller === undefined ? named : withLimits(named, flight.caller, cors.length > 0)
    if (answer === undefined || !isWorthCompressing(answer, encoding) || !this.#mayCompress(response)) {
      this.#send(response, this.#outgoing(reply, headers), flight)
      return
    }
    this.#sendCompressed(response, answer, reply, flight, headers)
  }

  #sendCompressed(response: HttpResponse, answer: Answer, reply: Reply, flight: Flight, headers: Headers): void {
    const write = (body: Answer, extra: Headers): void => {
      if (flight.isAborted) return
      this.#send(response, this.#outgoing({ answer: body, error: reply.error }, [...headers, ...extra]), flight)
    }
    compressed(answer).then(
      (bytes) =>
        write(bytes, [
          ['Content-Encoding', 'gzip'],
          ['Vary', 'Accept-Encoding'],
        ]),
      () => write(answer, noHeaders),
    )
  }

  #send(response: HttpResponse, outgoing: Outgoing, flight: Flight): void {
    if (outgoing.status >= 400) this.#onErrorStatus(outgoing.status)
    this.#answers.send(response, outgoing, flight, () => this.#outgoing(wholeError(overloaded()), noHeaders))
  }

  /** Not to this very machine, unless that is asked for. */
  #mayCompress(response: HttpResponse): boolean {
    return this.#settings.compression === 'all' || !isLoopback(peerAddress(response))
  }

  #outgoing(reply: Reply, headers: Headers): Outgoing {
    const { answer: body, error } = reply
    if (error?.httpStatus !== undefined) {
      const { httpStatus: status, retryAfterSeconds: seconds } = error
      return { status, headers: seconds === undefined ? headers : [...headers, ['Retry-After', String(seconds)]], body }
    }
    const isBad = this.#settings.hasErrorStatus && error !== undefined && badRequestCodes.includes(error.code)
    return { status: isBad ? 400 : 200, headers, body }
  }

  #tooSlow(headers: Headers): Outgoing {
    return refused(408, `Request body has not arrived within ${this.#settings.bodyMs} ms`, headers)
  }

  #tooLarge(headers: Headers): Outgoing {
    return refused(413, `Request body is larger than ${this.#settings.maxBodyBytes} bytes`, headers)
  }

  #onOptions(response: HttpResponse, request: HttpRequest): void {
    const origin = request.getHeader('origin')
    if (origin === '') {
      send(response, { status: 204, headers: [['Allow', 'POST, OPTIONS']], body: undefined })
      return
    }
    const isAllowed = isOriginAllowed(origin, this.#settings.cors)
    const preflight: Headers = [
      ['Access-Control-Allow-Methods', 'POST'],
      ['Access-Control-Allow-Headers', 'content-type, x-api-key, authorization'],
      ['Access-Control-Max-Age', '600'],
    ]
    send(response, {
      status: 204,
      headers: isAllowed ? [...this.#corsHeaders(origin), ...preflight] : noHeaders,
      body: undefined,
    })
  }

  #corsHeaders(origin: string): Headers {
    if (origin === '') return noHeaders
    if (this.#settings.cors.includes('*')) return [['Access-Control-Allow-Origin', '*']]
    return [
      ['Access-Control-Allow-Origin', origin],
      ['Vary', 'Origin'],
    ]
  }
}

const noMemory = wholeError(overloaded())
const unclear: Outgoing = {
  ...refused(400, 'Content-Length, Transfer-Encoding or Host is given twice, empty or not understood', noHeaders),
  isLast: true,
}
const keysAway = wholeError(unavailable('The store of API keys is away'))
const defect = wholeError(internalError())

function wholeError(error: RpcError): Reply {
  return { answer: writeError('null', error, false), error }
}
