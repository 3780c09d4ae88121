import { randomBytes } from 'node:crypto'
import type { Keyring } from './auth/keyring.ts'
import { decidedChoices } from './config/choices.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { HttpServer } from './http/server.ts'
import type { Context } from './methods/context.ts'
import { entriesFor, servedModules } from './methods/entries.ts'
import { openRpcDocument } from './methods/openRpc.ts'
import type { Addon } from './native/bindings.ts'
import { nodeFigures } from './native/figures.ts'
import type { Counters } from './observe/counters.ts'
import { judgeHealth } from './observe/health.ts'
import { Dispatcher, type Observer } from './rpc/dispatch.ts'
import { BodyServer } from './rpc/serve.ts'
import { nativeSource } from './subscriptions/nativeSource.ts'
import { Publisher } from './subscriptions/publisher.ts'
import { SubscriptionRegistry } from './subscriptions/registry.ts'
import { version } from './version.ts'
import { WebSocketServer } from './ws/server.ts'

/** One worker's server: HTTP, and WebSocket on the same port. */
export interface Server {
  /** Starts to listen and returns the port. Several workers may share one. */
  listen(port: number): Promise<number>
  /** Takes over the limits that may change while it serves. */
  configure(config: Config): void
  /** Takes no new connections, lets running requests end for a while, then closes all. */
  stop(graceMs: number): Promise<void>
}

/** What a server is put together with; passed in, so that tests can serve without a node. */
export interface ServerParts {
  readonly config: Config
  readonly native: Addon
  readonly keyring: Keyring
  readonly filters: Context['filters']
  readonly observe: Observer
  readonly shutdown: Context['shutdown']
  /** One number that all workers share: the WebSocket connections that are open. */
  readonly openSockets: Int32Array
  /** Absent: nothing is counted. */
  readonly counters: Counters | undefined
}

/** What the parts of a server need of the configuration. They look at it for each request. */
function settingsOf(config: Config) {
  const choices = decidedChoices(config)
  const hasHints = choices.errorText === 'helpful'
  const { timeoutMs, maxResponseBytes, maxBatchRequests } = config.rpc
  return {
    dispatch: { maxResponseBytes, hasHints },
    bodies: { maxBatchRequests, hasHints },
    http: { ...config.http, timeoutMs, hasErrorStatus: choices.errorStatus === '400' },
    ws: { ...config.ws, timeoutMs },
    health: { ...config.health },
  }
}

/** Builds one worker's server. */
export function createServer({
  config,
  native,
  keyring,
  filters,
  observe,
  shutdown,
  openSockets,
  counters,
}: ServerParts): Server {
  const registry = new SubscriptionRegistry(
    config.ws.maxSubscriptions,
    () => `0x${randomBytes(16).toString('hex')}`,
    (change) => counters?.change('subscriptions', change),
  )
  const subscriptions = new Publisher(nativeSource(native), registry, (defect) => {
    observe({ method: 'eth_subscription', elapsedMs: 0, errorCode: undefined, defect })
  })
  const isForDevelopment = isDevelopment(config)
  const entries = entriesFor(config.modules, isForDevelopment)
  const context: Context = {
    native,
    filters,
    subscriptions,
    shutdown,
    modules: servedModules(config.modules, isForDevelopment),
    // Seldom asked for, so it is not kept.
    discover: () => JSON.stringify(openRpcDocument(entries, version)),
  }
  const settings = settingsOf(config)
  const dispatcher = new Dispatcher(entries, context, settings.dispatch, (request) => {
    counters?.count(request.method, request.elapsedMs, request.errorCode)
    observe(request)
  })
  const bodies = new BodyServer(dispatcher, settings.bodies)
  let isEnding = false
  const cancel = (ticket: number): void => native.cancelTicket(ticket)
  const http = new HttpServer(bodies, keyring, settings.http, {
    cancel,
    health: () => judgeHealth(nodeFigures(native), settings.health, Date.now(), isEnding),
    onConnections: (change) => counters?.change('httpConnections', change),
  })
  const sockets = config.ws.enabled
    ? new WebSocketServer(
        http.app,
        {
          bodies,
          keyring,
          admit: (response, request) => http.admit(response, request),
          cancel,
          // uWebSockets does not tell of the end of a connection that became one.
          onUpgraded: () => counters?.change('httpConnections', -1),
          forget: (subscriber) => subscriptions.forget(subscriber),
          openSockets,
        },
        settings.ws,
      )
    : undefined
  return {
    listen: (port) => http.listen(port),
    configure(fresh) {
      const wanted = settingsOf(fresh)
      for (const part of ['dispatch', 'bodies', 'http', 'ws', 'health'] as const) {
        Object.assign(settings[part], wanted[part])
      }
    },
    async stop(graceMs) {
      isEnding = true
      http.stopListening()
      const until = performance.now() + graceMs
      const isRunning = () => http.running + (sockets?.running ?? 0) > 0
      while (isRunning() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
      sockets?.end()
      http.close()
    },
  }
}
