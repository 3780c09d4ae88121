import type { Keyring } from './auth/keyring.ts'
import type { Address } from './config/addresses.ts'
import { AddressRanges } from './config/addressRanges.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { Connections } from './http/connections.ts'
import type { ConnectionTable } from './http/connectionTable.ts'
import { FeedRoute } from './http/feedRoute.ts'
import type { HeadGate } from './http/headGate.ts'
import { Listener } from './http/listener.ts'
import { HttpServer } from './http/server.ts'
import type { Context } from './methods/context.ts'
import { entriesFor, servedModules } from './methods/entries.ts'
import { openRpcDocument } from './methods/openRpc.ts'
import { withRemoteReads } from './methods/remoteReads.ts'
import { largeBodies } from './native/largeBody.ts'
import { objectFault } from './native/objectFault.ts'
import type { Counters } from './observe/counters.ts'
import type { Health } from './observe/health.ts'
import { Dispatcher, type Observer } from './rpc/dispatch.ts'
import { code, RpcError } from './rpc/errors.ts'
import { sharedText } from './rpc/longAnswer.ts'
import type { MemoryBudget } from './rpc/memoryBudget.ts'
import { feedMethod } from './rpc/parameters/feed.ts'
import { BodyServer } from './rpc/serve.ts'
import type { Subscriber } from './rpc/subscriber.ts'
import type { Settings } from './settings.ts'
import type { Feeds } from './subscriptions/feeds.ts'
import { version } from './version.ts'
import { WebSocketServer } from './ws/server.ts'

/** Dependencies shared by all addresses of a worker. */
export interface EndpointParts {
  readonly config: Config
  readonly keyring: Keyring
  readonly context: Omit<Context, 'modules' | 'serves' | 'discover' | 'sendWaitMs'>
  readonly observe: Observer
  readonly health: () => Health
  readonly cancel: (token: number) => void
  readonly forget: (subscriber: Subscriber) => void
  readonly feeds: Feeds
  readonly openSockets: Int32Array
  readonly memory: MemoryBudget
  readonly connections: ConnectionTable
  readonly counters: Counters | undefined
  /** Absent: there is no fleet. */
  readonly gate: HeadGate | undefined
}

/** One address of one worker: HTTP and WebSocket on the same port. */
export class Endpoint {
  readonly listener: Listener
  readonly #http: HttpServer
  readonly #sockets: WebSocketServer | undefined

  constructor(address: Address, settings: Settings, parts: EndpointParts) {
    const { config, keyring, counters, observe, cancel } = parts
    const { native } = parts.context
    const isForDevelopment = isDevelopment(config)
    const served = entriesFor(config.modules, isForDevelopment, address)
    // A reset makes any development node a fork.
    const entries = isForDevelopment ? withRemoteReads(served) : served
    const serves = (method: string) => 'spec' in (entries.get(method) ?? {})
    let document: Buffer | undefined
    const context: Context = {
      ...parts.context,
      modules: servedModules(config.modules, isForDevelopment, address),
      serves,
      sendWaitMs: config.rpc.sendWaitMs,
      // Cached: creating it takes 20 ms.
      discover: () => {
        document ??= sharedText(JSON.stringify(openRpcDocument(entries, version, settings.dispatch.presumesBlock)))
        return document
      },
    }
    // Behind the start, and not in front of a caller.
    setTimeout(() => context.discover(), 1000).unref()
    const finished: Observer = (request) => {
      counters?.count(request.method, request.elapsedMs, request.errorCode)
      observe(request)
    }
    const dispatcher = new Dispatcher(entries, context, settings.dispatch, finished, objectFault(native))
    const feed = entries.get(feedMethod)
    const bodies = new BodyServer(dispatcher, settings.bodies, parts.memory, largeBodies(native))
    const trusted = new AddressRanges(config.http.trustedProxies)
    const { maxConnectionsPerIp: limit } = address
    const onRefused = () => counters?.change('refusedConnections', 1)
    const releaseBuffers = (buffers: readonly Buffer[]) => native.releaseBuffers(buffers)
    const http = new HttpServer(bodies, keyring, settings.http, {
      cancel,
      trusted,
      memory: parts.memory,
      releaseBuffers,
      connections: limit === 0 ? undefined : new Connections(parts.connections, limit, trusted, onRefused),
      health: parts.health,
      heads: parts.gate,
      feed: feed !== undefined && 'spec' in feed ? feedRoute(parts, serves, feed.spec.cost, finished) : undefined,
      onConnections: (change) => counters?.change('httpConnections', change),
      onErrorStatus: (status) => counters?.countStatus(status),
    })
    const sockets = config.ws.enabled
      ? new WebSocketServer(
          {
            bodies,
            keyring,
            admit: (response, request, onAdmitted) => http.admit(response, request, onAdmitted),
            refuse: (response, outgoing) => http.refuse(response, outgoing),
            releaseOf: (response) => http.releaseOf(response),
            path: http.path,
            cancel,
            // uWebSockets does not report the end of a connection that became a WebSocket.
            onUpgraded: () => counters?.change('httpConnections', -1),
            onUnauthenticated: () => counters?.countStatus(401),
            forget: parts.forget,
            openSockets: parts.openSockets,
            memory: parts.memory,
            releaseBuffers,
          },
          settings.ws,
        )
      : undefined
    this.#http = http
    this.#sockets = sockets
    this.listener = new Listener(address, (app) => {
      http.attach(app)
      sockets?.attach(app)
    })
  }

  /** Returns the number of unanswered requests. */
  get running(): number {
    return this.#http.running + (this.#sockets?.running ?? 0)
  }

  /** Closes every connection, WebSockets with code 1001. */
  close(): void {
    this.#sockets?.end()
    this.listener.close()
  }
}

function feedRoute(
  { feeds, keyring, cancel }: EndpointParts,
  serves: (method: string) => boolean,
  units: number,
  observe: Observer,
): FeedRoute {
  return new FeedRoute({
    feeds,
    serves,
    keyring,
    units,
    cancel,
    observe: (elapsedMs, error, request) => {
      const errorCode = error instanceof RpcError ? error.code : error === undefined ? undefined : code.internal
      const defect = error instanceof RpcError ? error.defect : error
      observe({ method: feedMethod, elapsedMs, errorCode, defect, request })
    },
  })
}
