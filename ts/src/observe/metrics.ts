import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client'
import { type Counters, latencyBounds } from './counters.ts'
import { fleetMetrics } from './fleetMetrics.ts'
import { type NodeFigures, upkeepTasks } from './nodeFigures.ts'
import { peerMetrics } from './peerMetrics.ts'
import { syncMetrics } from './syncMetrics.ts'

/** Sources of the metrics, read at each scrape. */
export interface MetricSources {
  readonly workers: readonly Counters[]
  /** Undefined while the chain is not open. */
  readonly core: () => NodeFigures | undefined
  readonly webSockets: () => number
  /** Bytes counted against `limits.memoryMegabytes`, of all threads. */
  readonly waitingBytes: () => number
  /** Undefined while the number is unknown. */
  readonly filters: () => Promise<number | undefined>
  /** Undefined if there is no shared store. */
  readonly sharedStore: () => { readonly isUp: boolean } | undefined
  /** Usage of each app since the start. */
  readonly apps: () => readonly (Readonly<Record<AppFigure, number>> & { readonly app: string })[]
}

const appFigures = {
  requests: 'Requests of an app that were answered.',
  units: 'Compute units of the answered requests of an app.',
  errors: 'Requests of an app that were answered with an error.',
  refused: 'Bodies and messages of an app that were over a limit.',
} as const
type AppFigure = keyof typeof appFigures

/** The page that Prometheus scrapes. */
export interface Metrics {
  readonly contentType: string
  page(): Promise<string>
}

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const show = coreMetrics(registry)
  const showSync = syncMetrics(registry)
  const showPeers = peerMetrics(registry)
  const showFleet = fleetMetrics(registry)
  const gauge = gaugesOf(registry)
  gauge('rhizome_websocket_connections', 'Open WebSocket connections.', () => sources.webSockets())
  gauge('rhizome_waiting_bytes', 'Bodies, requests, answers, filters and subscriptions that wait, in bytes.', () =>
    sources.waitingBytes(),
  )
  gauge('rhizome_filters', 'Installed filters; of all nodes that share a store.', () => sources.filters())
  gauge('rhizome_store_up', 'Whether the shared store is up; 1 when there is none.', () =>
    Number(sources.sharedStore()?.isUp ?? true),
  )
  const showApps = appMetrics(registry)
  return {
    contentType: registry.contentType,
    async page() {
      const figures = sources.core()
      show(figures)
      showSync(figures?.sync ?? null)
      showPeers(figures?.network ?? null)
      showFleet(figures?.fleet ?? null)
      showApps(sources.apps())
      const workers = AggregatorRegistry.aggregate(sources.workers.map(workerMetrics))
      return `${await workers.metrics()}\n${await registry.metrics()}`
    },
  }
}

/** Returns the metrics of one worker in the form that prom-client sums. */
function workerMetrics(counters: Counters, worker: number): MetricObject[] {
  const methods = counters.methods()
  return [
    metric('rhizome_rpc_duration_seconds', 'histogram', 'Time to answer a request, by method.', [
      ...methods.flatMap(({ method, counts, seconds }) => {
        let within = 0
        const buckets = counts.map((count, index) => {
          within += count
          return bucket(method, latencyBounds[index] ?? '+Inf', within)
        })
        const name = 'rhizome_rpc_duration_seconds'
        return [
          ...buckets,
          { metricName: `${name}_sum`, labels: { method }, value: seconds },
          { metricName: `${name}_count`, labels: { method }, value: within },
        ]
      }),
    ]),
    metric('rhizome_rpc_errors_total', 'counter', 'Requests that were answered with an error, by method and code.', [
      ...methods.flatMap(({ method, errors }) =>
        errors.map(({ code, count }) => ({ labels: { method, code: code === 0 ? 'other' : code }, value: count })),
      ),
    ]),
    metric('rhizome_http_connections', 'gauge', 'Open HTTP connections; those of WebSocket are counted apart.', [
      { labels: {}, value: counters.gauge('httpConnections') },
    ]),
    metric('rhizome_connections_refused_total', 'counter', 'Connections of clients that had too many.', [
      { labels: {}, value: counters.gauge('refusedConnections') },
    ]),
    metric('rhizome_refusals_total', 'counter', 'Requests and connections that were refused, by HTTP status.', [
      ...counters.refusals().map(({ status, count }) => ({ labels: { status: status || 'other' }, value: count })),
    ]),
    metric('rhizome_websocket_subscriptions', 'gauge', 'Subscriptions of open connections.', [
      { labels: {}, value: counters.gauge('subscriptions') },
    ]),
    metric('rhizome_worker_loop_delay_seconds', 'gauge', 'Event-loop delay of a worker in the last second.', [
      { labels: { worker, quantile: '0.99' }, value: counters.gauge('loopDelay99') },
      { labels: { worker, quantile: '1' }, value: counters.gauge('loopDelayMaximum') },
    ]),
    metric('rhizome_worker_loop_work_seconds', 'gauge', 'Longest delay in the last second, in processor time.', [
      { labels: { worker }, value: counters.gauge('loopWorkMaximum') },
    ]),
  ]
}

function bucket(method: string, bound: number | string, value: number) {
  return { metricName: 'rhizome_rpc_duration_seconds_bucket', labels: { method, le: bound }, value }
}

function metric(name: string, type: string, help: string, values: readonly object[]): MetricObject {
  return { name, type, help, values, aggregator: 'sum' } as unknown as MetricObject
}

/** Registers the metrics of the core; returns the function that sets them. */
function coreMetrics(registry: Registry): (figures: NodeFigures | undefined) => void {
  const gauge = gaugesOf(registry)
  let core: NodeFigures | undefined
  const of = (read: (figures: NodeFigures) => number) => () => (core === undefined ? undefined : read(core))
  gauge('rhizome_open', 'Whether the chain is open.', () => (core === undefined ? 0 : 1))
  gauge(
    'rhizome_head_number',
    'Number of the head.',
    of(({ number }) => number),
  )
  gauge(
    'rhizome_head_timestamp_seconds',
    'Time of the head.',
    of(({ timestamp }) => timestamp),
  )
  gauge(
    'rhizome_highest_block_number',
    'Number of the highest stored block.',
    of(({ highestBlock }) => highestBlock),
  )
  gauge(
    'rhizome_address_index_missing_blocks',
    'Blocks that the address index misses.',
    of(({ missingInAddressIndex }) => missingInAddressIndex ?? 0),
  )
  gauge(
    'rhizome_call_index_missing_blocks',
    'Blocks whose inner calls the address index misses.',
    of(({ indexedCalls }) => indexedCalls?.missing ?? 0),
  )
  gauge(
    'rhizome_call_index_first_block',
    'First block from which the address index has inner calls.',
    of(({ indexedCalls }) => indexedCalls?.completeFrom ?? 0),
  )
  gauge(
    'rhizome_block_cache_bytes',
    'Cache of database blocks.',
    of(({ store }) => store.blockCacheBytes),
  )
  gauge(
    'rhizome_filter_bytes',
    'Filters and indexes of the state, part of the cache of database blocks.',
    of(({ store }) => store.pinnedBytes),
  )
  gauge(
    'rhizome_compactions_running',
    'Compactions of the database that run.',
    of(({ store }) => store.compactions),
  )
  gauge(
    'rhizome_trie_nodes',
    "Nodes of the head's trie in memory.",
    of(({ upkeep }) => upkeep.trieNodes),
  )
  gauge(
    'rhizome_trie_evictions',
    'Evictions of such nodes since the start.',
    of(({ upkeep }) => upkeep.trieEvictions),
  )
  gauge(
    'rhizome_oldest_state',
    'Number of the oldest block whose state is kept.',
    of(({ upkeep }) => upkeep.oldestState),
  )
  gauge(
    'rhizome_value_cache_bytes',
    'Cache of long values.',
    of(({ store }) => store.valueCacheBytes),
  )
  gauge(
    'rhizome_write_buffer_bytes',
    'Rows not yet in files.',
    of(({ store }) => store.writeBufferBytes),
  )
  gauge(
    'rhizome_database_file_bytes',
    'Files of the database.',
    of(({ store }) => store.fileBytes),
  )
  gauge(
    'rhizome_compaction_pending_bytes',
    'Estimate of what has to be merged.',
    of(({ store }) => store.compactionBytes),
  )
  gauge(
    'rhizome_write_stopped',
    'Whether the database refuses writes.',
    of(({ store }) => Number(store.isWriteStopped || store.writeFault !== null)),
  )
  const transactions = labelled(registry, 'rhizome_pool_transactions', 'Transactions that wait for a block.', 'state')
  const failures = labelled(registry, 'rhizome_upkeep_failed', 'Whether the last attempt of a task failed.', 'task')
  const threads = labelled(registry, 'rhizome_lane_threads', 'Threads that execute.', 'lane')
  const waiting = labelled(registry, 'rhizome_lane_waiting', 'Requests that wait for a thread.', 'lane')
  const running = labelled(registry, 'rhizome_lane_running', 'Requests that a thread works on.', 'lane')
  const refused = new Counter({
    name: 'rhizome_lane_refused_total',
    help: 'Requests that found the queue full.',
    labelNames: ['lane'],
    registers: [registry],
  })
  const reads = new Counter({
    name: 'rhizome_cache_reads_total',
    help: 'Look-ups in caches, by result.',
    labelNames: ['cache', 'result'],
    registers: [registry],
  })
  return (figures) => {
    core = figures
    for (const one of [transactions, failures, threads, waiting, running, refused, reads]) one.reset()
    if (figures === undefined) return
    transactions.set({ state: 'pending' }, figures.pendingTransactions)
    transactions.set({ state: 'queued' }, figures.queuedTransactions)
    for (const task of upkeepTasks) failures.set({ task }, Number(task in figures.upkeep.failures))
    for (const [lane, counts] of Object.entries(figures.lanes)) {
      threads.set({ lane }, counts.threads)
      waiting.set({ lane }, counts.waiting)
      running.set({ lane }, counts.running)
      refused.inc({ lane }, counts.refused)
    }
    for (const [cache, { hits, misses }] of Object.entries(figures.caches)) {
      reads.inc({ cache, result: 'hit' }, hits)
      reads.inc({ cache, result: 'miss' }, misses)
    }
  }
}

/** Registers the usage of apps; returns the function that sets it. */
function appMetrics(registry: Registry): (apps: ReturnType<MetricSources['apps']>) => void {
  const counters = Object.entries(appFigures).map(([figure, help]) => {
    const name = `rhizome_app_${figure}_total`
    return [figure as AppFigure, new Counter({ name, help, labelNames: ['app'], registers: [registry] })] as const
  })
  return (apps) => {
    for (const [figure, counter] of counters) {
      counter.reset()
      for (const one of apps) counter.inc({ app: one.app }, one[figure])
    }
  }
}

function labelled(registry: Registry, name: string, help: string, label: string): Gauge {
  return new Gauge({ name, help, labelNames: [label], registers: [registry] })
}

type Read = () => number | undefined | Promise<number | undefined>

function gaugesOf(registry: Registry): (name: string, help: string, read: Read) => void {
  return (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
}
