import { EmbeddedStore, type StorePaths } from './auth/embeddedStore.ts'
import type { ServiceStore } from './auth/store.ts'
import { appsFileOf, usageFileOf } from './config/network.ts'
import type { Config } from './config/schema.ts'

// The store that the configuration names.

/** For the node. Throws StoreError. */
export function openStore(config: Config, onProblem: (error: Error) => void): Promise<ServiceStore> {
  return EmbeddedStore.open(pathsOf(config), onProblem)
}

/** For commands, which may run beside the node. Throws StoreError. */
export function openStoreBeside(config: Config): Promise<ServiceStore> {
  return Promise.resolve(EmbeddedStore.beside(pathsOf(config)))
}

function pathsOf(config: Config): StorePaths {
  return { apps: appsFileOf(config), usage: usageFileOf(config) }
}
