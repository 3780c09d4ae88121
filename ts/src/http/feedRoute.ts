import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Admission, Keyring } from '../auth/keyring.ts'
import { networkOf } from '../config/addressRanges.ts'
import { writeError } from '../rpc/envelope.ts'
import { code, internalError, RpcError } from '../rpc/errors.ts'
import type { FeedPort, OpenFeed } from '../rpc/feedClient.ts'
import { checkServed, type FeedOptions, readFeed } from '../rpc/parameters/feed.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import { EventStream } from './eventStream.ts'
import { type Headers, type Outgoing, onAborted } from './reply.ts'

/** Dependencies of the route of change feeds. */
export interface FeedRouteParts {
  readonly feeds: FeedPort
  readonly keyring: Keyring
  /** Whether the address serves a method. */
  readonly serves: (method: string) => boolean
  /** Price of a feed, besides its pages. */
  readonly units: number
  readonly cancel: (token: number) => void
  /** Called when a feed has begun, or with the error when it was refused. */
  readonly observe: (elapsedMs: number, error: unknown, context: RequestContext) => void
}

/** Parts of a request, which can no longer be read when its route has returned. */
export interface FeedRequest {
  readonly query: URLSearchParams
  /** Cursor of the last event that a browser has received before it connected again. */
  readonly lastEventId: string
  readonly headers: Headers
}

export function feedRequestOf(request: HttpRequest, headers: Headers): FeedRequest {
  const query = new URLSearchParams(request.getQuery() ?? '')
  return { query, lastEventId: request.getHeader('last-event-id'), headers }
}

/** Serves `GET /feed`: a change feed as server-sent events. */
export class FeedRoute {
  readonly #parts: FeedRouteParts

  constructor(parts: FeedRouteParts) {
    this.#parts = parts
  }

  /** Sends events, or an error with `refuse`. */
  open(
    response: HttpResponse,
    { query, lastEventId, headers }: FeedRequest,
    admission: Admission,
    refuse: (outgoing: Outgoing) => void,
  ): void {
    const { feeds, keyring, serves, units, cancel, observe } = this.#parts
    const startedMs = performance.now()
    const context = new RequestContext(0, cancel)
    context.caller = admission.caller
    const network = networkOf(admission.client?.source ?? '')
    context.readNetwork = () => network
    const stream = new EventStream(response, headers, keyring, admission)
    let feed: OpenFeed | undefined
    let isGone = false
    onAborted(response, () => {
      isGone = true
      context.abort()
      stream.leave()
      feed?.close()
    })
    const fail = (error: unknown): void => {
      observe(performance.now() - startedMs, error, context)
      if (isGone) return
      stream.leave()
      refuse(refusalOf(error instanceof RpcError ? error : internalError(), headers))
    }
    const start = async (): Promise<void> => {
      const options = optionsOf(query, lastEventId)
      checkServed(options, serves)
      const refusal = context.caller?.pay(1, units)
      if (refusal !== undefined) throw refusal
      feed = await feeds.open(options, stream, context)
      observe(performance.now() - startedMs, undefined, context)
      if (isGone) feed.close()
      else void feed.run()
    }
    start().catch(fail)
  }
}

const names = ['from', 'what', 'address', 'topic0', 'topic1', 'topic2', 'topic3']

/** Reads the query. Lists are separated by commas. Throws RpcError. */
export function optionsOf(query: URLSearchParams, lastEventId: string): FeedOptions {
  const unknown = [...query.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined) throw refused(`Invalid query: ${unknown.slice(0, 66)} is unknown`)
  const repeated = names.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) throw refused(`Invalid query: ${repeated} is given twice`)
  const list = (name: string) => query.get(name)?.split(',')
  const topics = names.filter((name) => name.startsWith('topic')).map((name) => list(name) ?? null)
  while (topics.at(-1) === null) topics.pop()
  return readFeed({
    from: lastEventId === '' ? (query.get('from') ?? undefined) : lastEventId,
    what: list('what'),
    address: list('address'),
    topics: topics.length === 0 ? undefined : topics,
  })
}

function refused(message: string): RpcError {
  return new RpcError(code.invalidParams, message, undefined, `expected some of ${names.join(', ')}`)
}

function refusalOf(error: RpcError, headers: Headers): Outgoing {
  const { retryAfterSeconds: seconds } = error
  const retry: Headers = seconds === undefined ? [] : [['Retry-After', String(seconds)]]
  return { status: statusOf(error), headers: [...headers, ...retry], body: writeError('null', error, true) }
}

function statusOf({ code: number, httpStatus }: RpcError): number {
  if (httpStatus !== undefined) return httpStatus
  if (number === code.notStored) return 410
  if (number === code.invalidParams || number === code.invalidRequest) return 400
  return number === code.limitReached || number === code.limitExceeded ? 503 : 500
}
