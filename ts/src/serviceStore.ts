import { EmbeddedStore, type StorePaths } from './auth/embeddedStore.ts'
import type { ServiceStore } from './auth/store.ts'
import { appsFileOf, usageFileOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { type ServerAddress, storeAddress } from './config/storeUrl.ts'
import { MemoryFilters } from './filters/memoryStore.ts'
import type { FilterLimits, FilterStore } from './filters/store.ts'
import type { StoreHealth } from './observe/health.ts'
import type { MemoryBudget } from './rpc/memoryBudget.ts'

// The store that the configuration names: embedded in the node, or a server that several nodes share.

const sweepMs = 30_000

/** The state of the service, as a node has it. */
export interface NodeStore {
  readonly service: ServiceStore
  /** `chain` tells chains apart: the hash of the genesis block. Filters in this process count in `memory`. */
  filters(chain: string, memory: MemoryBudget): FilterStore
  /** Undefined when nothing is shared. */
  health(): StoreHealth | undefined
  /** Calls back whenever a shared store goes away or comes back. */
  onHealth(listener: (health: StoreHealth) => void): void
  close(): Promise<void>
}

/** For the node. Throws StoreError, also when a shared store is away and the node was not told to go on without. */
export async function openStore(config: Config, onProblem: (error: Error) => void): Promise<NodeStore> {
  const address = addressOf(config)
  if (address === undefined) return openEmbedded(config, onProblem)
  // The client library takes time and memory: it is loaded only where it is needed.
  const { openShared } = await import('./sharedStore.ts')
  return openShared(config, address, filterLimitsOf(config))
}

/** For commands, which may run beside the node. Throws StoreError. */
export async function openStoreBeside(config: Config): Promise<ServiceStore> {
  const address = addressOf(config)
  if (address === undefined) return EmbeddedStore.beside(pathsOf(config))
  const { sharedBeside } = await import('./sharedStore.ts')
  return sharedBeside(config, address)
}

/** Whether there is a place to keep apps in. */
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
