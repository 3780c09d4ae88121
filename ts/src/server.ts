import { randomBytes } from 'node:crypto'
import type { Keyring } from './auth/keyring.ts'
import { addressesOf } from './config/addresses.ts'
import { healthLimitsOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { Endpoint, type EndpointParts } from './endpoint.ts'
import { headGate } from './headGate.ts'
import { ConnectionTable } from './http/connectionTable.ts'
import type { Context } from './methods/context.ts'
import type { Addon } from './native/bindings.ts'
import { nodeFigures } from './native/figures.ts'
import { HeadChanges } from './native/headChanges.ts'
import type { Counters } from './observe/counters.ts'
import { judgeHealth, type StoreHealth } from './observe/health.ts'
import type { Observer } from './rpc/dispatch.ts'
import type { MemoryBudget } from './rpc/memoryBudget.ts'
import { feedMethod } from './rpc/parameters/feed.ts'
import { replaceSettings, type Settings, settingsOf } from './settings.ts'
import { Feeds } from './subscriptions/feeds.ts'
import { nativeSource } from './subscriptions/nativeSource.ts'
import { Publisher } from './subscriptions/publisher.ts'
import { SubscriptionRegistry } from './subscriptions/registry.ts'

/** The server of one worker: HTTP and WebSocket on all addresses. */
export interface Server {
  /** Listens on one port for each address and returns the first port. Several workers may share the ports. */
  listen(...ports: readonly number[]): Promise<number>
  /** Applies the settings that may change while the server runs. */
  configure(config: Config): void
  /** Reads the certificate files again for new connections. */
  renewCertificates(): Promise<void>
  /** Accepts no new connections, waits up to `graceMs` for running requests, then closes all connections. */
  stop(graceMs: number): Promise<void>
}

/** Dependencies of a server; tests replace them to serve without a node. */
export interface ServerParts {
  readonly config: Config
  readonly native: Addon
  readonly keyring: Keyring
  readonly filters: Context['filters']
  readonly observe: Observer
  readonly shutdown: Context['shutdown']
  /** One number shared by all workers: open WebSocket connections. */
  readonly openSockets: Int32Array
  /** See `Context`. Absent: a number of this worker only, for a node that starts without a fork. */
  readonly mayBeFork?: Int32Array
  /** Counts the bytes of requests, answers, filters and subscriptions. */
  readonly memory: MemoryBudget
  /** Shared memory of the connection table; absent: a table of this worker only. */
  readonly connections?: Int32Array
  /** Absent: requests are not counted. */
  readonly counters: Counters | undefined
  /** State of the shared store. Absent: there is none. */
  readonly store?: () => StoreHealth | undefined
}

/** Creates the server of one worker. */
export function createServer({
  config,
  native,
  keyring,
  filters,
  observe,
  shutdown,
  openSockets,
  mayBeFork = new Int32Array(1),
  memory,
  connections,
  counters,
  store,
}: ServerParts): Server {
  const newId = () => `0x${randomBytes(16).toString('hex')}`
  const onChange = (change: number) => counters?.change('subscriptions', change)
  const registry = new SubscriptionRegistry(config.ws.maxSubscriptions, memory, newId, onChange)
  const heads = new HeadChanges(native)
  const report = (method: string) => (defect: unknown) =>
    observe({ method, elapsedMs: 0, errorCode: undefined, defect })
  const subscriptions = new Publisher(nativeSource(native, heads), registry, report('eth_subscription'))
  const feeds = new Feeds({
    native,
    heads,
    memory,
    arrivalMs: config.fleet.role === 'standalone' ? 0 : config.fleet.headWaitMs,
    maximum: config.ws.maxSubscriptions,
    newId,
    onChange,
    report: report(feedMethod),
  })
  const settings = settingsOf(config)
  const health = { ...healthLimitsOf(config) }
  let isEnding = false
  const parts: EndpointParts = {
    config,
    keyring,
    context: { native, mayBeFork, filters, subscriptions, feeds, heads, shutdown },
    observe,
    health: () => judgeHealth(nodeFigures(native), health, Date.now(), isEnding, store?.()),
    cancel: (token) => native.cancelExecution(token),
    forget: (subscriber) => {
      subscriptions.forget(subscriber)
      feeds.forget(subscriber)
    },
    feeds,
    openSockets,
    memory,
    connections: new ConnectionTable(connections),
    counters,
    gate: config.fleet.role === 'standalone' ? undefined : headGate(native, heads, config.fleet.latest),
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
