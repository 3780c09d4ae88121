import { EmbeddedStore, type StorePaths } from './auth/embeddedStore.ts'
import type { ServiceStore } from './auth/store.ts'
import { appsFileOf, usageFileOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { type ServerAddress, storeAddress } from './config/storeUrl.ts'
import { MemoryFilters } from './filters/memoryStore.ts'
import type { FilterLimits, FilterStore } from './filters/store.ts'
import type { StoreHealth } from './observe/health.ts'
import type { MemoryBudget } from './rpc/memoryBudget.ts'

// Opens the store of the configuration: embedded in the node, or a server shared by several nodes.

const sweepMs = 30_000

/** The store of a node: state of the service, and filters. */
export interface NodeStore {
  readonly service: ServiceStore
  /** Opens the filters of a chain, identified by the hash of its genesis block. Filters in this process reserve bytes in `memory`. */
  filters(chain: string, memory: MemoryBudget): FilterStore
  /** Returns the state of the shared store; undefined if there is none. */
  health(): StoreHealth | undefined
  /** Sets the listener for changes of the state of a shared store. */
  onHealth(listener: (health: StoreHealth) => void): void
  close(): Promise<void>
}

/** Opens the store of a node. Throws StoreError, also if a shared store is away, unless `store.whenAway` is `open`. */
export async function openStore(config: Config, onProblem: (error: Error) => void): Promise<NodeStore> {
  const address = addressOf(config)
  if (address === undefined) return openEmbedded(config, onProblem)
  // The client library takes time and memory: it is imported on demand.
  const { openShared } = await import('./sharedStore.ts')
  return openShared(config, address, filterLimitsOf(config))
}

/** Opens the store for a command, which may run beside the node. Throws StoreError. */
export async function openStoreBeside(config: Config): Promise<ServiceStore> {
  const address = addressOf(config)
  if (address === undefined) return EmbeddedStore.beside(pathsOf(config))
  const { sharedBeside } = await import('./sharedStore.ts')
  return sharedBeside(config, address)
}

/** Returns whether apps can be stored. */
export function keepsApps(config: Config): boolean {
  return addressOf(config) !== undefined || appsFileOf(config) !== null
}

async function openEmbedded(config: Config, onProblem: (error: Error) => void): Promise<NodeStore> {
  const service = await EmbeddedStore.open(pathsOf(config), onProblem)
  let filters: MemoryFilters | undefined
  const sweep = setInterval(() => filters?.removeExpired(), sweepMs).unref()
  return {
    service,
    filters(_chain, memory) {
      filters = new MemoryFilters(filterLimitsOf(config), memory)
      return filters
    },
    health: () => undefined,
    onHealth: () => undefined,
    async close() {
      clearInterval(sweep)
      await service.close()
    },
  }
}

function pathsOf(config: Config): StorePaths {
  return { apps: appsFileOf(config), usage: usageFileOf(config) }
}

function addressOf(config: Config): ServerAddress | undefined {
  const address = storeAddress(config.store)
  return address === 'embedded' ? undefined : address
}

function filterLimitsOf({ filters }: Config): FilterLimits {
  return { expiryMs: filters.expirySeconds * 1000, maximum: filters.maximum }
}
