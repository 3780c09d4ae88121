import { randomBytes } from 'node:crypto'
import { Accounting } from './auth/accounting.ts'
import { KeySource } from './auth/keySource.ts'
import type { AppStore } from './auth/store.ts'
import { addressesOf, reachableAddress } from './config/addresses.ts'
import { checkCertificates } from './config/certificate.ts'
import { decidedChoices } from './config/choices.ts'
import { setHeaderLimit } from './config/environment.ts'
import { ConfigError } from './config/error.ts'
import { appsFileOf, miningOf, workersOf } from './config/network.ts'
import { reload } from './config/reload.ts'
import type { Config } from './config/schema.ts'
import { nativeSource } from './filters/nativeSource.ts'
import { FilterRegistry } from './filters/registry.ts'
import { urlOf } from './http/url.ts'
import { shutModules } from './methods/entries.ts'
import type { Addon } from './native/bindings.ts'
import { headCursor } from './native/feed.ts'
import { nodeFigures } from './native/figures.ts'
import { loadAddon } from './native/load.ts'
import { nodeConfig } from './nodeConfig.ts'
import { judgeHealth } from './observe/health.ts'
import { createLogger } from './observe/log.ts'
import { freePort } from './portProbe.ts'
import { openStore } from './serviceStore.ts'
import { Workers } from './workers.ts'

const filterSweepMs = 30_000

/** A node that serves. */
export interface RunningNode {
  /** E.g. `http://127.0.0.1:4444`. */
  readonly url: string
  readonly port: number
  /** Of all addresses, in the order of the configuration. */
  readonly urls: readonly string[]
  readonly workers: number
  /** Where the figures for Prometheus are; undefined when they are not served. */
  readonly metricsUrl: string | undefined
  /** Where the operator's page and its API are; undefined when they are not served. */
  readonly adminUrl: string | undefined
  /** Direct access to the core, for the banner and for tests. */
  readonly native: Addon
  /** Resolves with the reason when the node cannot go on by itself. */
  readonly failure: Promise<string>
  /** Resolves when a caller asks the node to end (rsk_shutdown). */
  readonly shutdown: Promise<void>
  /** Takes over what may change while the node runs, and logs what has to wait for a restart. Throws ConfigError. */
  reload(config: Config): void
  /** Logs that the configuration could not be read anew: the node goes on with the one that it has. */
  refuseReload(problems: readonly string[]): void
  /** Answers running requests, closes all connections and the database. False when a worker is still busy. */
  stop(): Promise<boolean>
}

/** Opens the node of this process and serves it. There can be one in a process. */
export async function startNode(config: Config): Promise<RunningNode> {
  let current = config
  const logger = createLogger(config.log.level, 'main')
  let certificates = checkCertificates(config)
  const operator = config.admin.enabled ? (await import('./operator.ts')).prepareOperator(config) : undefined
  const store = await openStore(config, (error) => logger.error({ reason: error.message }, 'trouble with the store'))
  const accounting = new Accounting(store, (error) => logger.error({ reason: error.message }, 'usage is told later'))
  const source = await openKeys(config, store.apps, accounting)
  const addresses = addressesOf(config)
  const ports: number[] = []
  for (const { host, port } of addresses) ports.push(await freePort(host, port))
  const native = loadAddon()
  let fail: (reason: string) => void = () => undefined
  const failure = new Promise<string>((resolve) => {
    fail = resolve
  })
  let askToEnd: () => void = () => undefined
  const shutdown = new Promise<void>((resolve) => {
    askToEnd = resolve
  })
  const count = workersOf(config)
  const figures = config.metrics.enabled ? await import('./figures.ts') : undefined
  const isCounting = config.metrics.enabled || config.admin.enabled
  const counters = isCounting ? (await import('./counting.ts')).createCounters(config, count) : []
  setHeaderLimit(config.http.maxHeaderBytes)
  const workers = new Workers(count, config, { keys: source.keys, meters: accounting.memory, counters }, logger, fail)
  let isEnding = false
  try {
    native.openNode(nodeConfig(config))
    native.onHead(() => logger.debug(headCursor(native), 'new head'))
    const filters = createFilters(native, config)
    await workers.listen(ports, filters, askToEnd)
    accounting.start()
    source.watch(
      (keys) => workers.replaceKeys(keys),
      (error) => logger.error({ reason: error.message }, 'API keys stay as they were'),
    )
    const sources = {
      workers: counters,
      core: () => nodeFigures(native),
      webSockets: () => Atomics.load(workers.openSockets, 0),
      filters: () => filters.size,
      health: () => judgeHealth(nodeFigures(native), current.health, Date.now(), isEnding),
      apps: () => accounting.totals(),
    }
    const urls = addresses.map(({ host, tls }, index) => urlOf(host, ports[index] ?? 0, tls && 'https'))
    const metrics = await figures?.serveFigures(config.metrics, sources)
    const admin = await operator?.serve({
      url: urls[0] ?? '',
      keys: appsFileOf(config) === null ? undefined : { store: store.apps, source },
      sources,
      logger,
    })
    const sweep = setInterval(() => filters.removeExpired(), filterSweepMs).unref()
    logger.debug({ urls, network: config.network, workers: count }, 'serving')
    for (const address of addresses) {
      const modules = shutModules(config.modules, address)
      if (modules.length > 0) logger.warn({ address: address.path, modules }, 'not served on a public address')
    }
    return {
      url: urls[0] ?? '',
      urls,
      port: ports[0] ?? 0,
      workers: count,
      metricsUrl: metrics?.url,
      adminUrl: admin?.url,
      native,
      failure,
      shutdown,
      reload(fresh) {
        const { config, changed, waiting } = reload(current, fresh)
        const found = checkCertificates(config)
        current = config
        logger.level = config.log.level
        workers.configure(config)
        logger.info({ changed }, 'configuration read again')
        if (found !== certificates) workers.renewCertificates()
        certificates = found
        if (waiting.length > 0) logger.warn({ settings: waiting }, 'these settings change at the next start only')
      },
      refuseReload: (problems) => logger.error({ problems }, 'the configuration is wrong; the old one stays'),
      async stop() {
        clearInterval(sweep)
        isEnding = true
        source.stop()
        metrics?.close()
        admin?.close()
        const isIdle = await workers.stop(config.http.drainMs)
        await accounting.stop()
        await store.close()
        await native.closeNode()
        logger.debug('stopped')
        return isIdle
      },
    }
  } catch (error) {
    await workers.stop(0)
    throw error
  }
}

/** The API keys. A node that others reach does not start without, unless it is told to be open. */
async function openKeys(config: Config, store: AppStore, accounting: Accounting): Promise<KeySource> {
  const { network, auth } = config
  const source = await KeySource.open(store, { network, isOpen: auth.open }, accounting)
  const reachable = reachableAddress(config)
  if (source.hasApps || auth.open || reachable === undefined) return source
  throw new ConfigError([
    `${reachable.path}.host: ${reachable.host} can be reached by others, and there are no API keys: make one with rhizome keys create, or allow everybody with --open`,
  ])
}

function createFilters(native: Addon, config: Config): FilterRegistry {
  const minesBeforePoll = decidedChoices(config).filterPoll === 'mine' && miningOf(config).mode === 'auto'
  const source = nativeSource(native, config.rpc.timeoutMs, minesBeforePoll)
  const limits = { expiryMs: config.filters.expirySeconds * 1000, maximum: config.filters.maximum }
  const newId = () => {
    const bytes = randomBytes(16)
    // A QUANTITY: no leading zeros.
    bytes[0] = (bytes[0] ?? 0) | 0x80
    return `0x${bytes.toString('hex')}`
  }
  return new FilterRegistry(source, limits, () => performance.now(), newId)
}
