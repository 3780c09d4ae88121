import type { Counters, MethodFigures } from '../observe/counters.ts'
import type { Health } from '../observe/health.ts'
import {
  countOf,
  countsBetween,
  errorsOf,
  History,
  latencyMs,
  type Sample,
  sampleMs,
  takeSample,
} from '../observe/history.ts'
import type { FleetFigures, NodeFigures } from '../observe/nodeFigures.ts'
import { syncProgress } from '../observe/syncProgress.ts'
import type { FleetReport, MethodReport, NodeReport } from './shapes.ts'

const rateMs = 30_000
const latencyWindowMs = 300_000

/** Sources of the report, read at each request. */
export interface ReportSources {
  readonly fixed: Pick<NodeReport, 'version' | 'network' | 'url' | 'workers'>
  readonly workers: readonly Counters[]
  /** Undefined while the chain is not open. */
  readonly core: () => NodeFigures | undefined
  readonly health: () => Health
  readonly access: () => NodeReport['access']
  readonly webSockets: () => number
  /** Undefined while the number is unknown. */
  readonly filters: () => Promise<number | undefined>
  /** A monotonic clock that starts at 0 with the process. */
  readonly nowMs: () => number
}

/** Reports on the node, with rates over the samples of the last five minutes. */
export class Reporter {
  readonly #sources: ReportSources
  readonly #history = new History()
  readonly #onSample: (sample: Sample) => void
  #timer: NodeJS.Timeout | undefined

  /** `onSample` is called with each sample of the history. */
  constructor(sources: ReportSources, onSample: (sample: Sample) => void = () => undefined) {
    this.#sources = sources
    this.#onSample = onSample
  }

  start(): void {
    this.#keepSample()
    this.#timer = setInterval(() => this.#keepSample(), sampleMs).unref()
  }

  /** Stops sampling after a last sample. */
  stop(): void {
    clearInterval(this.#timer)
    this.#keepSample()
  }

  async report(): Promise<NodeReport> {
    const { fixed, workers, core, health, access, webSockets, filters, nowMs } = this.#sources
    const now = this.#sample()
    const then = this.#history.before(now.atMs, rateMs) ?? now
    const figures = core()
    const gauge = (name: 'httpConnections' | 'subscriptions') =>
      workers.reduce((total, one) => total + one.gauge(name), 0)
    const { ready, head, lagBlocks, reasons } = health()
    return {
      ...fixed,
      upSeconds: Math.floor(nowMs() / 1000),
      access: access(),
      health: { ready, head, lagBlocks, reasons },
      sync: figures?.sync ? syncProgress(figures.sync) : null,
      fleet: figures?.fleet ? fleetReport(figures.fleet) : null,
      blocks: { perSecond: blockRate(then, now), curve: this.#history.steps(blockRate) },
      requests: this.#requests(now, then, (sample) => [...sample.methods.values()]),
      methods: [...now.methods.keys()].map((method) => ({
        method,
        ...this.#requests(now, then, ({ methods }) => [methods.get(method)]),
      })),
      errors: errorReport(then, now),
      refusals: refusalReport(then, now),
      connections: {
        http: gauge('httpConnections'),
        webSocket: webSockets(),
        subscriptions: gauge('subscriptions'),
        filters: (await filters()) ?? null,
      },
      pool: figures ? { pending: figures.pendingTransactions, queued: figures.queuedTransactions } : null,
      lanes: figures?.lanes ?? null,
      memory: {
        residentBytes: process.memoryUsage.rss(),
        cacheBytes: figures ? figures.store.blockCacheBytes + figures.store.valueCacheBytes : 0,
        writeBufferBytes: figures?.store.writeBufferBytes ?? 0,
      },
      database: figures ? { fileBytes: figures.store.fileBytes, compactionBytes: figures.store.compactionBytes } : null,
    }
  }

  #keepSample(): void {
    const sample = this.#sample()
    this.#history.add(sample)
    this.#onSample(sample)
  }

  #sample(): Sample {
    const { workers, core, nowMs } = this.#sources
    return takeSample(workers, core()?.number, nowMs())
  }

  #requests(
    now: Sample,
    then: Sample,
    pick: (sample: Sample) => readonly (MethodFigures | undefined)[],
  ): Omit<MethodReport, 'method'> {
    const total = (sample: Sample) => pick(sample).reduce((sum, figures) => sum + countOf(figures), 0)
    const rate = (from: Sample, to: Sample) => perSecond(from, to, total(to) - total(from))
    const window = this.#history.before(now.atMs, latencyWindowMs) ?? now
    const counts = pick(now).reduce<number[]>((sum, figures) => {
      const earlier = figures && window.methods.get(figures.method)
      return countsBetween(earlier, figures).map((count, index) => count + (sum[index] ?? 0))
    }, [])
    return {
      count: total(now),
      errors: pick(now).reduce(
        (sum, figures) => sum + (figures?.errors ?? []).reduce((all, { count }) => all + count, 0),
        0,
      ),
      perSecond: rate(then, now),
      p50Ms: rounded(latencyMs(counts, 0.5)),
      p99Ms: rounded(latencyMs(counts, 0.99)),
      curve: this.#history.steps(rate),
    }
  }
}

function fleetReport({ role, failure, changes, nodes }: FleetFigures): FleetReport {
  const best = Math.max(...nodes.map(({ number }) => number))
  return {
    role,
    failure,
    publishesChanges: changes === null ? null : changes.isHolder,
    nodes: nodes.map(({ name, role: part, version, number, behindMs, silentMs, isReady }) => {
      return { name, role: part, version, head: number, blocksBehind: best - number, behindMs, silentMs, isReady }
    }),
  }
}

/** Returns the growth of the main chain in blocks per second; 0 after a reorganisation to a lower head. */
function blockRate(from: Sample, to: Sample): number {
  if (from.head === undefined || to.head === undefined) return 0
  return perSecond(from, to, Math.max(0, to.head - from.head))
}

function errorReport(then: Sample, now: Sample): NodeReport['errors'] {
  const before = errorsOf(then)
  return [...errorsOf(now)]
    .map(([code, count]) => ({
      code: code === 0 ? ('other' as const) : code,
      count,
      perSecond: perSecond(then, now, count - (before.get(code) ?? 0)),
    }))
    .toSorted((one, other) => other.count - one.count)
}

function refusalReport(then: Sample, now: Sample): NodeReport['refusals'] {
  return [...now.refusals]
    .map(([status, count]) => ({
      status: status === 0 ? ('other' as const) : status,
      count,
      perSecond: perSecond(then, now, count - (then.refusals.get(status) ?? 0)),
    }))
    .toSorted((one, other) => other.count - one.count)
}

function perSecond(from: Sample, to: Sample, amount: number): number {
  const seconds = (to.atMs - from.atMs) / 1000
  return seconds <= 0 ? 0 : round(amount / seconds)
}

function rounded(value: number | null): number | null {
  return value === null ? null : round(value)
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}
