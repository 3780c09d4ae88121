import type { Keyring } from './auth/keyring.ts'
import type { Address } from './config/addresses.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { Listener } from './http/listener.ts'
import { HttpServer } from './http/server.ts'
import type { Context } from './methods/context.ts'
import { entriesFor, servedModules } from './methods/entries.ts'
import { openRpcDocument } from './methods/openRpc.ts'
import type { Counters } from './observe/counters.ts'
import type { Health } from './observe/health.ts'
import { Dispatcher, type Observer } from './rpc/dispatch.ts'
import { BodyServer } from './rpc/serve.ts'
import type { Subscriber } from './rpc/subscriber.ts'
import type { Settings } from './settings.ts'
import { version } from './version.ts'
import { WebSocketServer } from './ws/server.ts'

/** What all addresses of a worker have in common. */
export interface EndpointParts {
  readonly config: Config
  readonly keyring: Keyring
  readonly context: Omit<Context, 'modules' | 'discover'>
  readonly observe: Observer
  readonly health: () => Health
  readonly cancel: (ticket: number) => void
  readonly forget: (subscriber: Subscriber) => void
  readonly openSockets: Int32Array
  readonly counters: Counters | undefined
}

/** One address of one worker: HTTP, and WebSocket on the same port. */
export class Endpoint {
  readonly listener: Listener
  readonly #http: HttpServer
  readonly #sockets: WebSocketServer | undefined

  constructor(address: Address, settings: Settings, parts: EndpointParts) {
    const { config, keyring, counters, observe, cancel } = parts
    const isForDevelopment = isDevelopment(config)
    const entries = entriesFor(config.modules, isForDevelopment, address)
    const context: Context = {
      ...parts.context,
      modules: servedModules(config.modules, isForDevelopment, address),
      // Seldom asked for, so it is not kept.
      discover: () => JSON.stringify(openRpcDocument(entries, version)),
    }
    const dispatcher = new Dispatcher(entries, context, settings.dispatch, (request) => {
      counters?.count(request.method, request.elapsedMs, request.errorCode)
      observe(request)
    })
    const bodies = new BodyServer(dispatcher, settings.bodies)
    const http = new HttpServer(bodies, keyring, settings.http, {
      cancel,
      health: parts.health,
      onConnections: (change) => counters?.change('httpConnections', change),
    })
    const sockets = config.ws.enabled
      ? new WebSocketServer(
          {
            bodies,
            keyring,
            admit: (response, request) => http.admit(response, request),
            cancel,
            // uWebSockets does not tell of the end of a connection that became one.
            onUpgraded: () => counters?.change('httpConnections', -1),
            forget: parts.forget,
            openSockets: parts.openSockets,
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

  /** Requests that are not answered yet. */
  get running(): number {
    return this.#http.running + (this.#sockets?.running ?? 0)
  }

  /** Tells WebSocket clients that the server goes away, and closes every connection. */
  close(): void {
    this.#sockets?.end()
    this.listener.close()
  }
}
