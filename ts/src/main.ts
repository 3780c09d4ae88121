import { randomUUID } from 'node:crypto'
import { logAddressIndex } from './addressIndexLog.ts'
import { Accounting } from './auth/accounting.ts'
import { KeySource } from './auth/keySource.ts'
import { StoreError } from './auth/store.ts'
import { reachableAddress } from './config/addresses.ts'
import { checkCertificates } from './config/certificate.ts'
import { decidedChoices } from './config/choices.ts'
import { setHeaderLimit } from './config/environment.ts'
import { ConfigError } from './config/error.ts'
import {
  hasAddressIndex,
  healthLimitsOf,
  isReplica,
  memoryLimitOf,
  miningOf,
  timeoutOf,
  workersOf,
} from './config/network.ts'
import { reload } from './config/reload.ts'
import type { Config } from './config/schema.ts'
import type { KnownSignatures } from './explorer/settings.ts'
import { nativeSource } from './filters/nativeSource.ts'
import { FilterRegistry } from './filters/registry.ts'
import { sharedSource } from './filters/sharedSource.ts'
import type { FilterStore } from './filters/store.ts'
import { logFleet } from './fleetLog.ts'
import { urlOf } from './http/url.ts'
import { shutModules } from './methods/entries.ts'
import type { Addon } from './native/bindings.ts'
import { headCursor, leftOut } from './native/feed.ts'
import { nodeFigures } from './native/figures.ts'
import { loadAddon } from './native/load.ts'
import { checkSystem } from './native/uWebSockets.ts'
import { nodeConfig } from './nodeConfig.ts'
import { judgeHealth, type StoreHealth } from './observe/health.ts'
import { createLogger, type Logger } from './observe/log.ts'
import { type FreePort, freePort } from './portProbe.ts'
import { restoreAtStart } from './restore.ts'
import { MemoryBudget, sharedCounters } from './rpc/memoryBudget.ts'
import type { RunningNode } from './runningNode.ts'
import { keepsApps, type NodeStore, openStore } from './serviceStore.ts'
import { maxIncompleteMessageBytes } from './settings.ts'
import { startSettings } from './startSettings.ts'
import { loadState, type StateFiles, StateSaver } from './stateFiles.ts'
import { logSync } from './syncLog.ts'
import { logUpkeep } from './upkeepLog.ts'
import { Workers } from './workers.ts'

/** A serving node, with the operations that commands need. */
export interface ServingNode extends RunningNode {
  readonly workers: number
  /** Direct access to the core. */
  readonly native: Addon
  /** Sets the listener for changes of the head; it replaces the previous listener. */
  onHead(listener: () => void): void
  /** Applies the settings that may change while the node runs, and logs settings that need a restart. Throws ConfigError. */
  reload(config: Config): void
  /** Whether the state could not be saved at the end. */
  readonly hasLostState: boolean
  /** Logs that a new configuration is invalid; the current one stays. */
  refuseReload(problems: readonly string[]): void
}

/** Parts of a node besides its configuration. */
export interface NodeParts {
  readonly stateFiles?: StateFiles
  /** Signatures for the explorer. */
  readonly signatures?: KnownSignatures | undefined
}

/** Opens the node of this process and serves it, with its state in files if there are any. A process can have one node. */
export async function startNode(config: Config, parts: NodeParts = {}): Promise<ServingNode> {
  checkSystem()
  const logger = createLogger(config.log.level, 'main')
  const store = await openStore(config, (error) => logger.error({ reason: error.message }, 'store problem'))
  try {
    return await startWith(store, config, parts, logger)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function startWith(
  store: NodeStore,
  config: Config,
  { stateFiles, signatures = { functions: [], events: [] } }: NodeParts,
  logger: Logger,
): Promise<ServingNode> {
  let current = config
  const checked = startSettings(config)
  const { network, restore, fleet, addresses } = checked
  let { certificates } = checked
  const operator = config.admin.enabled ? (await import('./operator.ts')).prepareOperator(config, logger) : undefined
  const explorer = config.explorer.enabled ? (await import('./explorer.ts')).prepareExplorer(config, logger) : undefined
  const accounting = new Accounting(store.service, reporter(logger, 'usage could not be stored; retrying'))
  const source = await openKeys(config, store, accounting)
  const held: FreePort[] = []
  for (const { host, port } of addresses) held.push(await freePort(host, port))
  const ports = held.map(({ port }) => port)
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
  const cells = sharedCounters(count + 1)
  const memory = new MemoryBudget(cells, 0, memoryLimitOf(config))
  const figures = config.metrics.enabled ? await import('./figures.ts') : undefined
  const isCounting = config.metrics.enabled || config.admin.enabled
  const counters = isCounting ? (await import('./counting.ts')).createCounters(config, count) : []
  setHeaderLimit(config.http.maxHeaderBytes)
  const shared = { keys: source.keys, meters: accounting.memory, store: store.health(), counters, memory: cells }
  const workers = new Workers(count, config, shared, logger, fail)
  const logHealth = storeLog(logger)
  const health = store.health()
  if (health !== undefined) logHealth(health)
  store.onHealth((health) => {
    logHealth(health)
    workers.setStoreHealth(health)
  })
  let isEnding = false
  try {
    const settings = await nodeConfig(config)
    if (restore !== undefined) await restoreAtStart(native, settings, restore, logger)
    const opened = JSON.parse(native.openNode(settings)) as OpenedNode
    const { genesis } = opened
    logKeptStates(opened, logger)
    logUncomparedStates(opened, logger)
    for (const note of opened.fork?.notes ?? []) logger.warn(note)
    if (opened.warning !== undefined) logger.warn({ head: opened.number }, opened.warning)
    if (stateFiles !== undefined) await loadState(native, stateFiles)
    if (fleet !== undefined) native.startFleet(JSON.stringify({ ...fleet, restore: restore ?? null }))
    if (network !== undefined) native.startNetwork(JSON.stringify(network))
    // Mined before serving: test suites read the time of the head first, and the genesis block is years old.
    if (config.tools && !isReplica(config) && headCursor(native).number === 0) await native.evmMine(1, -1, 0, 0)
    let isForked = native.forkedChain() !== null
    const timeoutMs = (): number => timeoutOf(current, isForked)
    const configureWorkers = (): void =>
      workers.configure({ ...current, rpc: { ...current.rpc, timeoutMs: timeoutMs() } })
    let onHead = (): void => undefined
    // Blocks are mined until the node is closed, and a closed node has no head to read.
    native.onHead(() => {
      if (isEnding) return
      logger.debug(headCursor(native), 'new head')
      // A reset may begin or end a fork.
      if (isForked !== (native.forkedChain() !== null)) {
        isForked = !isForked
        configureWorkers()
      }
      onHead()
    })
    native.onLeftOut(() => {
      if (!isEnding) logLeftOut(native, logger)
    })
    const filters = store.filters(genesis, memory)
    await workers.listen(ports, createRegistry(native, config, filters, timeoutMs, store.health() !== undefined), {
      onShutdown: askToEnd,
      onAppUse: (use) => operator?.takeAppUse(use),
    })
    const isSearching = network !== undefined && (network.hasDiscovery || network.peers.length > 0)
    const endSyncLog = network === undefined ? () => undefined : logSync(() => nodeFigures(native), isSearching, logger)
    const endIndexLog = hasAddressIndex(config)
      ? logAddressIndex(() => {
          const figures = nodeFigures(native)
          return Math.max(figures?.missingInAddressIndex ?? 0, figures?.indexedCalls?.missing ?? 0)
        }, logger)
      : () => undefined
    const endUpkeepLog = logUpkeep(() => nodeFigures(native)?.upkeep.failures, logger)
    const endFleetLog = fleet === undefined ? () => undefined : logFleet(() => nodeFigures(native)?.fleet, logger)
    accounting.start()
    source.watch(
      (keys) => workers.replaceKeys(keys),
      reporter(logger, 'API keys could not be reloaded; keeping the current ones'),
    )
    const sources = {
      workers: counters,
      core: () => nodeFigures(native),
      webSockets: () => Atomics.load(workers.openSockets, 0),
      waitingBytes: () => memory.allBytes,
      // Unknown while the store is away.
      filters: () => filters.count().catch(() => undefined),
      health: () => judgeHealth(nodeFigures(native), healthLimitsOf(current), Date.now(), isEnding, store.health()),
      sharedStore: () => store.health(),
      apps: () => accounting.totals(),
    }
    const urls = addresses.map(({ host, tls }, index) => urlOf(host, ports[index] ?? 0, tls && 'https'))
    const metrics = await figures?.serveFigures(config.metrics, sources)
    const admin = await operator?.serve({
      url: urls[0] ?? '',
      keys: keepsApps(config) ? { store: store.service, source } : undefined,
      native,
      sources,
    })
    const page = await explorer?.serve({
      url: urls[0] ?? '',
      takesWebSockets: config.ws.enabled,
      needsKey: () => !source.keys.isOpen,
      signatures,
    })
    const saver = stateSaver(native, stateFiles, logger)
    let hasLostState = false
    logger.debug({ urls, network: config.network, workers: count }, 'serving')
    logMessageMemory(config, logger)
    for (const address of addresses) {
      const modules = shutModules(config.modules, address)
      if (modules.length > 0) logger.warn({ address: address.path, modules }, 'modules not served on a public address')
    }
    return {
      url: urls[0] ?? '',
      urls,
      port: ports[0] ?? 0,
      workers: count,
      metricsUrl: metrics?.url,
      adminUrl: admin?.url,
      explorerUrl: page?.url,
      native,
      onHead(listener) {
        onHead = listener
      },
      failure,
      shutdown,
      reload(fresh) {
        const { config, changed, waiting } = reload(current, fresh)
        const found = checkCertificates(config)
        current = config
        logger.level = config.log.level
        configureWorkers()
        logger.info({ changed }, 'configuration reloaded')
        if (found !== certificates) workers.renewCertificates()
        certificates = found
        if (waiting.length > 0) logger.warn({ settings: waiting }, 'these settings need a restart')
      },
      get hasLostState() {
        return hasLostState
      },
      refuseReload: (problems) => logger.error({ problems }, 'invalid configuration; keeping the current one'),
      async stop() {
        isEnding = true
        endSyncLog()
        endIndexLog()
        endUpkeepLog()
        endFleetLog()
        source.stop()
        metrics?.close()
        admin?.close()
        page?.close()
        const isIdle = await workers.stop(config.http.drainMs)
        await admin?.save()
        await accounting.stop()
        await store.close()
        hasLostState = (await saver?.end()) === false
        await native.closeNode()
        logger.debug('stopped')
        return isIdle
      },
    }
  } catch (error) {
    await workers.stop(0)
    throw error
  } finally {
    for (const port of held) port.release()
  }
}

function stateSaver(native: Addon, files: StateFiles | undefined, logger: Logger): StateSaver | undefined {
  if (files?.save === undefined) return undefined
  return new StateSaver(native, files.save, files.intervalSeconds, (error) => {
    logger.error({ reason: error.message }, 'the state could not be saved')
  })
}

/** Members of `nodeInfo` that the start reads. */
interface OpenedNode {
  readonly genesis: string
  readonly number: number
  readonly history: string
  readonly fork?: { readonly notes: readonly string[] }
  /** Writes that the database has lost. */
  readonly warning?: string
  /** Null: all. */
  readonly keptStates: number | null
  readonly oldestState: number
  /** First block whose state root is compared. */
  readonly stateComparedFrom: number
}

/** Reports that the headers of the next blocks have no state root that could be compared (before RSKIP-126). */
function logUncomparedStates({ number, stateComparedFrom }: OpenedNode, logger: Logger): void {
  if (number + 1 >= stateComparedFrom) return
  logger.info({ stateComparedFrom }, `state not compared before block ${stateComparedFrom}`)
}

/** Reports states that `storage.history` asks for, but that were pruned before. */
function logKeptStates({ number, history, keptStates, oldestState, fork }: OpenedNode, logger: Logger): void {
  // Earlier states of a fork are those of the other node.
  if (fork !== undefined || oldestState <= (keptStates === null ? 0 : Math.max(0, number - keptStates))) return
  logger.info({ history, oldestState }, 'states below block oldestState were pruned; later ones are kept from now on')
}

/** Warns if a node that other machines reach may use much more memory for WebSocket messages than `limits.memoryMegabytes`. */
function logMessageMemory(config: Config, logger: Logger): void {
  const megabytes = Math.ceil(maxIncompleteMessageBytes(config) / 2 ** 20)
  const { memoryMegabytes } = config.limits
  if (megabytes <= memoryMegabytes || reachableAddress(config) === undefined) return
  logger.warn({ megabytes, memoryMegabytes }, 'incomplete WebSocket messages may exceed limits.memoryMegabytes')
}

/** Opens the API keys. A node that other machines reach needs an app or `auth.open`. Throws ConfigError. */
async function openKeys(config: Config, store: NodeStore, accounting: Accounting): Promise<KeySource> {
  const { network, auth } = config
  const { whenAway } = config.store
  const reachable = reachableAddress(config)
  const settings = {
    network,
    isOpen: auth.open,
    needsApps: reachable !== undefined,
    mayStartAway: whenAway === 'open',
    isWithheld: () => whenAway === 'closed' && store.health()?.isUp === false,
  }
  const source = await KeySource.open(store.service.apps, settings, accounting)
  // A store that could not be read yet may contain apps: until then, requests are refused.
  if (source.hasApps || !source.hasRead || auth.open || reachable === undefined) return source
  throw new ConfigError([
    `${reachable.path}.host: other machines can reach ${reachable.host}, and there are no API keys: create one with rhizome keys create, or allow requests without a key with --open`,
  ])
}

function createRegistry(
  native: Addon,
  config: Config,
  store: FilterStore,
  timeoutMs: () => number,
  isShared: boolean,
): FilterRegistry {
  const minesBeforePoll = decidedChoices(config).filterPoll === 'mine' && miningOf(config).mode === 'auto'
  const source = nativeSource(native, timeoutMs, minesBeforePoll)
  const isKnown = (hash: string): boolean => native.headOfBlock(hash) !== 'null'
  return new FilterRegistry(isShared ? sharedSource(source, isKnown) : source, store, randomUUID())
}

/** Logs transactions that were left out of a block, once for each transaction and reason. */
function logLeftOut(native: Addon, logger: Logger): void {
  for (const { isDropped, ...transaction } of leftOut(native)) {
    logger.warn(transaction, isDropped ? 'transaction dropped' : 'transaction left out of the block')
  }
}

/** Returns a function that logs errors of the store, except that it is away: `storeLog` logs that once. */
function reporter(logger: Logger, message: string): (error: Error) => void {
  return (error) => {
    if (!(error instanceof StoreError && error.isAway)) logger.error({ reason: error.message }, message)
  }
}

/** Returns a function that logs once when the store becomes unreachable, and once when it is reachable again. */
function storeLog(logger: Logger): (health: StoreHealth) => void {
  let wasUp = true
  return ({ isUp, reason, whenAway }) => {
    if (isUp && !wasUp) logger.info('the shared store is back')
    if (!isUp && wasUp) logger.error({ reason, whenAway }, 'the shared store is away')
    wasUp = isUp
  }
}
