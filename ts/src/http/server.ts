import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { Admission, KeyEntry, Keyring, Refusal } from '../auth/keyring.ts'
import { isLoopback } from '../config/addresses.ts'
import { AddressRanges, networkOf } from '../config/addressRanges.ts'
import type { Health } from '../observe/health.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, internalError, overloaded, RpcError, unavailable } from '../rpc/errors.ts'
import type { Message } from '../rpc/longAnswer.ts'
import { type MemoryBudget, uncounted } from '../rpc/memoryBudget.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import { isRequestId } from '../rpc/requestId.ts'
import type { BodyServer, Reply } from '../rpc/serve.ts'
import { admissionRefused, clientInfoOf, refused, withLimits } from './admission.ts'
import { apiKeyOf, feedPath } from './apiKey.ts'
import { type Body, BodyThrottle, owned, readBody, release } from './body.ts'
import { clientAddress, peerAddress } from './clientAddress.ts'
import { compressed, isWorthCompressing } from './compression.ts'
import { type Connections, routesBehind } from './connections.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { type FeedRoute, feedRequestOf } from './feedRoute.ts'
import { framingOf } from './framing.ts'
import { type HeadGate, leastHeadHeader, leastHeadOf } from './headGate.ts'
import { LargeAnswers } from './largeAnswers.ts'
import { isJson } from './mediaType.ts'
import { isHostAllowed, isOriginAllowed } from './origin.ts'
import {
  attachConnection,
  closeBehind,
  connectionOf,
  type Headers,
  isLastOf,
  noHeaders,
  type Outgoing,
  onAborted,
  send,
} from './reply.ts'
import type { HttpSettings } from './settings.ts'

const badRequestCodes: readonly number[] = [code.parseError, code.invalidRequest, code.invalidParams]

/** Dependencies of an HTTP server. */
export interface HttpParts {
  readonly cancel: (token: number) => void
  readonly health: () => Health
  /** Called with 1 when a connection opens, with -1 when it closes, unless it became a WebSocket. */
  readonly onConnections: (change: number) => void
  /** Called with the HTTP status of each answer from 400 on, except for health checks. */
  readonly onErrorStatus?: (status: number) => void
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trusted?: AddressRanges
  /** Counts the bytes of bodies, requests and answers in memory. */
  readonly memory: MemoryBudget
  /** Frees the memory of large answers that were sent. */
  readonly releaseBuffers: (buffers: readonly Buffer[]) => void
  /** Absent: connections of each client are not limited. */
  readonly connections?: Connections | undefined
  /** Absent: answers do not name the head, and requests do not wait for one. */
  readonly heads?: HeadGate | undefined
  /** Absent: change feeds are not served. */
  readonly feed?: FeedRoute | undefined
}

type Route = (response: HttpResponse, request: HttpRequest) => void

/** The HTTP server of one address in one worker: reads requests and writes answers. Knows no method. */
export class HttpServer {
  readonly #bodies: BodyServer
  readonly #keyring: Keyring
  readonly #settings: HttpSettings
  readonly #cancel: (token: number) => void
  readonly #health: () => Health
  readonly #onConnections: (change: number) => void
  readonly #onErrorStatus: (status: number) => void
  readonly #trusted: AddressRanges
  readonly #connections: Connections | undefined
  readonly #memory: MemoryBudget
  readonly #answers: LargeAnswers
  readonly #heads: HeadGate | undefined
  readonly #feed: FeedRoute | undefined
  readonly #throttle = new BodyThrottle()
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
      heads,
      feed,
      releaseBuffers,
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
    this.#answers = new LargeAnswers(settings, memory, releaseBuffers)
    this.#heads = heads
    this.#feed = feed
  }

  /** Adds the routes to an app. */
  attach(app: TemplatedApp): void {
    app.filter((_response, change) => this.#onConnections(Number(change)))
    this.#connections?.attach(app)
    const path = this.path
    const onOther = this.#checked((response, request) => this.#onOther(response, request))
    app.post(
      path,
      this.#checked((response, request) => this.#onPost(response, request)),
    )
    app.options(
      path,
      this.#checked((response, request) => this.#onOptions(response, request)),
    )
    app.get(path, onOther)
    app.head(path, onOther)
    // uWebSockets tries this route after those of an HTTP method, whatever their patterns.
    app.any('/*', onOther)
  }

  /** Wraps a route: counts the connection if there is a limit, and checks the framing first. */
  #checked(route: Route): Route {
    const connections = this.#connections
    return (response, request) => {
      if (connections !== undefined) {
        const connection = connections.count(response)
        if (connection === 'closed') return
        attachConnection(response, connection)
      }
      const framing = framingOf(request)
      if (framing === 'ambiguous') {
        this.#refuse(response, unclear)
        return
      }
      // Another server may see the end of the chunks elsewhere, so nothing after them is read.
      if (framing === 'chunked') closeBehind(response)
      route(response, request)
    }
  }

  /** Returns the number of unanswered requests. */
  get running(): number {
    return this.#running
  }

  /**
   * Authorises a WebSocket upgrade: calls `onAdmitted`, or sends the error response when `Host`, `Origin`, the key or the
   * policy of the app refuse it.
   */
  admit(response: HttpResponse, request: HttpRequest, onAdmitted: (admission: Admission) => void): void {
    const connection = this.#connections?.count(response)
    if (connection === 'closed') return
    attachConnection(response, connection)
    if (framingOf(request) !== 'plain') {
      this.#refuse(response, unclear)
      return
    }
    this.#admitClient(response, request, onAdmitted)
  }

  /** Authorises a connection that stays open. */
  #admitClient(response: HttpResponse, request: HttpRequest, onAdmitted: (admission: Admission) => void): void {
    const origin = request.getHeader('origin')
    const key = this.#recognise(response, request, origin)
    if (key === undefined) return
    const headers = this.#corsHeaders(origin)
    const client = clientInfoOf(response, request, this.#trusted)
    const finish = (admitted: Admission | Refusal): void => {
      if (typeof admitted === 'string') this.#refuse(response, admissionRefused(admitted, headers))
      // The connection stays open: a later change of the policy is checked against the same client.
      else onAdmitted({ ...admitted, client })
    }
    const admitted = this.#keyring.admit(key, client)
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

  /** Returns the pattern of all routes. */
  get path(): string {
    return this.#connections === undefined ? '/*' : routesBehind
  }

  /** Refuses an upgrade that was authorised. */
  refuse(response: HttpResponse, outgoing: Outgoing): void {
    this.#refuse(response, outgoing)
  }

  /** Sends a response with an error status, and counts it. */
  #refuse(response: HttpResponse, outgoing: Outgoing): void {
    this.#onErrorStatus(outgoing.status)
    send(response, outgoing)
  }

  /** Returns the function to call when a connection closes that becomes a WebSocket. */
  releaseOf(response: HttpResponse): () => void {
    return connectionOf(response)?.release ?? (() => undefined)
  }

  /** Answers methods other than POST and OPTIONS. */
  #onOther(response: HttpResponse, request: HttpRequest): void {
    const method = request.getMethod()
    if (request.getUrl() === '/health' && (method === 'get' || method === 'head')) {
      this.#onHealth(response, request)
      return
    }
    if (this.#feed !== undefined && method === 'get' && request.getUrl().endsWith(feedPath)) {
      const asked = feedRequestOf(request, this.#corsHeaders(request.getHeader('origin')))
      const refuse = (outgoing: Outgoing) => this.#refuse(response, outgoing)
      this.#admitClient(response, request, (admission) => this.#feed?.open(response, asked, admission, refuse))
      return
    }
    const error = new RpcError(code.invalidRequest, 'JSON-RPC requests are sent with POST')
    const body = method === 'head' ? undefined : writeError('null', error, false)
    this.#refuse(response, { status: 405, headers: [['Allow', 'POST, OPTIONS']], body })
  }

  #onHealth(response: HttpResponse, request: HttpRequest): void {
    const origin = request.getHeader('origin')
    // Load balancers have no key. The answer contains only public data of the chain.
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
    const admitted = key.admission ?? this.#keyring.admit(key, clientInfoOf(response, request, this.#trusted))
    if (typeof admitted === 'string') {
      this.#refuse(response, admissionRefused(admitted, this.#corsHeaders(origin)))
      return
    }
    const headers = origin === '' ? noHeaders : this.#corsHeaders(origin)
    const encoding = this.#settings.compression === 'none' ? '' : request.getHeader('accept-encoding')
    const least = this.#heads === undefined ? undefined : leastHeadOf(request.getHeader(leastHeadHeader))
    if (Number.isNaN(least)) {
      this.#refuse(response, refused(400, 'If-Head-At-Least: expected a block number in decimal', headers))
      return
    }
    const context = new RequestContext(this.#settings.timeoutMs, this.#cancel)
    const sentId = request.getHeader('x-request-id')
    if (sentId !== '' && isRequestId(sentId)) context.id = sentId
    context.readNetwork = this.#networkReader(response, request, context)
    const { maxBodyBytes: maxBytes, bodyMs: timeMs } = this.#settings
    if (!(admitted instanceof Promise)) context.caller = admitted.caller
    const open = () => this.#memory.open(context.client)
    const serve = (body: Body): void => {
      // The key may have expired while the body arrived.
      const renew = (one: Admission | Refusal) => (typeof one === 'string' ? one : this.#keyring.renew(one))
      const still = admitted instanceof Promise ? admitted.then(renew) : renew(admitted)
      const kept = still instanceof Promise || least !== undefined ? owned(body) : body
      const finish = (one: Admission | Refusal): void => {
        if (context.isAborted) {
          release(body)
          return
        }
        if (typeof one === 'string') {
          release(body)
          this.#refuse(response, admissionRefused(one, headers))
          return
        }
        context.caller = one.caller
        const answer = () => this.#answer(response, kept, context, headers, encoding)
        if (least === undefined) answer()
        else this.#waitForHead(least, response, kept, context, headers, answer)
      }
      if (still instanceof Promise) {
        still.then(finish, () => {
          release(body)
          if (!context.isAborted) this.#refuse(response, this.#outgoing(defect, headers))
        })
      } else finish(still)
    }
    // A chunked request is answered after the whole packet is parsed: see `send`.
    const serveLater = (body: Body): unknown => setImmediate(serve, owned(body))
    const limits = { maxBytes, timeMs, open, openLarge: this.#bodies.openLarge, throttle: this.#throttle }
    const stopReading = readBody(response, limits, isLastOf(response) ? serveLater : serve)
    onAborted(response, () => {
      stopReading()
      context.abort()
    })
  }

  /** Answers a request when the node has a head, or refuses it after a while. */
  #waitForHead(
    least: number,
    response: HttpResponse,
    body: Body,
    context: RequestContext,
    headers: Headers,
    answer: () => void,
  ): void {
    this.#running++
    const { headWaitMs, timeoutMs } = this.#settings
    const limitMs = timeoutMs === 0 ? headWaitMs : Math.min(headWaitMs, timeoutMs)
    const reached = this.#heads?.reach(least, limitMs) ?? Promise.resolve(true)
    const finish = (isThere: boolean): void => {
      this.#running--
      if (context.isAborted) release(body)
      else if (isThere) response.cork(answer)
      else {
        release(body)
        this.#refuse(response, this.#outgoing(wholeError(unavailable(`The node has no block ${least} yet`)), headers))
      }
    }
    reached.then(finish, () => finish(false))
  }

  /** Returns the key of a request, or sends the error response and returns undefined. In open mode the request is not searched for a key. */
  #recognise(response: HttpResponse, request: HttpRequest, origin: string): KeyEntry | undefined {
    const key = this.#keyring.identify(this.#keyring.isOpen ? '' : apiKeyOf(request))
    const page = this.#pageRefusal(request, origin)
    if (page !== undefined) this.#refuse(response, page)
    else if (this.#keyring.isWithheld) this.#refuse(response, this.#outgoing(keysAway, this.#corsHeaders(origin)))
    else if (key === undefined) this.#refuse(response, admissionRefused('key', this.#corsHeaders(origin)))
    else return key
    return undefined
  }

  /** Returns the refusal of a request by its headers, before its body is read. */
  #bodyRefusal(request: HttpRequest, origin: string): Outgoing | undefined {
    const { maxBodyBytes } = this.#settings
    if (!isJson(request.getHeader('content-type'))) {
      return refused(415, 'Content-Type must be application/json', this.#corsHeaders(origin))
    }
    if (Number(request.getHeader('content-length')) > maxBodyBytes) return this.#tooLarge(this.#corsHeaders(origin))
    return undefined
  }

  /** Returns the refusal of a request whose `Host` or `Origin` is not allowed. */
  #pageRefusal(request: HttpRequest, origin: string): Outgoing | undefined {
    const { hosts, cors } = this.#settings
    if (!hosts.includes('*') && !isHostAllowed(request.getHeader('host'), hosts))
      return refused(403, 'Host not allowed')
    return origin !== '' && !isOriginAllowed(origin, cors) ? refused(403, 'Origin not allowed') : undefined
  }

  #answer(response: HttpResponse, body: Body, context: RequestContext, headers: Headers, encoding: string): void {
    if ('fault' in body) {
      // The rest of the body is never read, so the connection has to close.
      if (body.fault === 'too large') this.#refuse(response, { ...this.#tooLarge(headers), isLast: true })
      else if (body.fault === 'no memory')
        this.#refuse(response, { ...this.#outgoing(noMemory, headers), isLast: true })
      else this.#refuse(response, { ...this.#tooSlow(headers), isLast: true })
      return
    }
    const held = body.held ?? this.#memory.reserveRequest(context, body.bytes.length)
    if (held === undefined) {
      this.#refuse(response, this.#outgoing(noMemory, headers))
      return
    }
    const done = { bytes: body.bytes, held }
    this.#running++
    // Read before the answer is computed: the answer is never older.
    const head = this.#heads?.headers(headers.length > 0) ?? noHeaders
    const reply = this.#bodies.serve(body.bytes, context)
    if (reply instanceof Promise) {
      if (held !== uncounted) void reply.finally(() => release(done)).catch(() => undefined)
      reply.then(
        (finished) => this.#finish(response, finished, context, headers, encoding, head),
        () => this.#finish(response, defect, context, headers, encoding, head),
      )
    } else {
      release(done)
      this.#finish(response, reply, context, headers, encoding, head)
    }
  }

  /** Returns a function that reads the network of the client. Behind proxies the headers must be read at once. */
  #networkReader(response: HttpResponse, request: HttpRequest, context: RequestContext): () => string {
    if (this.#trusted.isEmpty) return () => (context.isAborted ? '' : networkOf(peerAddress(response)))
    const network = networkOf(clientAddress(response, request, this.#trusted))
    return () => network
  }

  #finish(
    response: HttpResponse,
    reply: Reply,
    context: RequestContext,
    cors: Headers,
    encoding: string,
    head: Headers,
  ): void {
    this.#running--
    if (context.isAborted) return
    const { answer } = reply
    const hasFailed = context.error !== undefined || reply.error !== undefined
    const named: Headers = hasFailed ? [...cors, ['X-Request-Id', context.id]] : cors
    const limited = context.caller === undefined ? named : withLimits(named, context.caller, cors.length > 0)
    // Most answers have no others.
    const headers = limited.length === 0 ? head : [...limited, ...head]
    if (answer === undefined || !isWorthCompressing(answer, encoding) || !this.#mayCompress(response)) {
      this.#send(response, this.#outgoing(reply, headers), context)
      return
    }
    this.#sendCompressed(response, answer, reply, context, headers)
  }

  #sendCompressed(
    response: HttpResponse,
    answer: Message,
    reply: Reply,
    context: RequestContext,
    headers: Headers,
  ): void {
    const write = (body: Message, extra: Headers): void => {
      if (context.isAborted) return
      this.#send(response, this.#outgoing({ answer: body, error: reply.error }, [...headers, ...extra]), context)
    }
    const held = this.#memory.reserve(context.client, answer.length)
    // Uncompressed, it is sent, or rejected, at once.
    if (held === undefined) {
      write(answer, noHeaders)
      return
    }
    void compressed(answer)
      .finally(() => held.release())
      .then(
        (bytes) =>
          write(bytes, [
            ['Content-Encoding', 'gzip'],
            ['Vary', 'Accept-Encoding'],
          ]),
        () => write(answer, noHeaders),
      )
  }

  #send(response: HttpResponse, outgoing: Outgoing, context: RequestContext): void {
    if (outgoing.status >= 400) this.#onErrorStatus(outgoing.status)
    this.#answers.send(response, outgoing, context, () => this.#outgoing(wholeError(overloaded()), noHeaders))
  }

  /** Returns false for clients on this machine, unless the setting says `all`. */
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
    const { cors } = this.#settings
    const waits = this.#heads === undefined ? [] : [leastHeadHeader]
    send(response, {
      status: 204,
      headers: preflightHeaders(request.getHeader('origin'), cors, waits),
      body: undefined,
    })
  }

  #corsHeaders(origin: string): Headers {
    return corsHeaders(origin, this.#settings.cors)
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
