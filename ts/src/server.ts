import { randomBytes } from 'node:crypto'
import type { Keyring } from './auth/keyring.ts'
import { addressesOf } from './config/addresses.ts'
import { healthLimitsOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { Endpoint, type EndpointParts } from './endpoint.ts'
import { ConnectionTable } from './http/connectionTable.ts'
import type { Context } from './methods/context.ts'
import type { Addon } from './native/bindings.ts'
import { nodeFigures } from './native/figures.ts'
import type { Counters } from './observe/counters.ts'
import { judgeHealth, type StoreHealth } from './observe/health.ts'
import type { Observer } from './rpc/dispatch.ts'
import type { MemoryBudget } from './rpc/memoryBudget.ts'
import { replaceSettings, type Settings, settingsOf } from './settings.ts'
import { nativeSource } from './subscriptions/nativeSource.ts'
import { Publisher } from './subscriptions/publisher.ts'
import { SubscriptionRegistry } from './subscriptions/registry.ts'

/** One worker's server: HTTP and WebSocket on all addresses. */
export interface Server {
  /** Starts to listen, given one port for each address, and returns that of the first. Several workers may share them. */
  listen(...ports: readonly number[]): Promise<number>
  /** Takes over the limits that may change while it serves. */
  configure(config: Config): void
  /** Shows new connections the certificates that the files hold now. */
  renewCertificates(): Promise<void>
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
  /** Where the bytes that wait are counted. */
  readonly memory: MemoryBudget
  /** Where all workers count the connections of each client; absent: this one counts alone. */
  readonly connections?: Int32Array
  /** Absent: nothing is counted. */
  readonly counters: Counters | undefined
  /** How the store is that nodes share. Absent: there is none. */
  readonly store?: () => StoreHealth | undefined
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
  memory,
  connections,
  counters,
  store,
}: ServerParts): Server {
  const registry = new SubscriptionRegistry(
    config.ws.maxSubscriptions,
    memory,
    () => `0x${randomBytes(16).toString('hex')}`,
    (change) => counters?.change('subscriptions', change),
  )
  const subscriptions = new Publisher(nativeSource(native), registry, (defect) => {
    observe({ method: 'eth_subscription', elapsedMs: 0, errorCode: undefined, defect })
  })
  const settings = settingsOf(config)
  const health = { ...healthLimitsOf(config) }
  let isEnding = false
  const parts: EndpointParts = {
    config,
    keyring,
    context: { native, filters, subscriptions, shutdown },
    observe,
    health: () => judgeHealth(nodeFigures(native), health, Date.now(), isEnding, store?.()),
    cancel: (token) => native.cancelExecution(token),
    forget: (subscriber) => subscriptions.forget(subscriber),
    openSockets,
    memory,
    connections: new ConnectionTable(connections),
    counters,
  }
  const endpoints = addressesOf(config).map(
    (address, index) => new Endpoint(address, settings[index] as Settings, parts),
  )
  return {
    async listen(...ports) {
      const found = await Promise.all(endpoints.map(({ listener }, index) => listener.listen(ports[index] ?? 0)))
      return found[0] as number
    },
    configure(fresh) {
      replaceSettings(settings, fresh)
      Object.assign(health, healthLimitsOf(fresh))
    },
    async renewCertificates() {
      await Promise.all(endpoints.map(({ listener }) => listener.renewCertificate()))
    },
    async stop(graceMs) {
      isEnding = true
      for (const { listener } of endpoints) listener.stopListening()
      const until = performance.now() + graceMs
      const isRunning = () => endpoints.some(({ running }) => running > 0)
      while (isRunning() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
      for (const endpoint of endpoints) endpoint.close()
    },
  }
}
