import { existsSync } from 'node:fs'
import { dataDirOf } from '../config/network.ts'
import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { loadAddon } from '../native/load.ts'
import { nodeConfig } from '../nodeConfig.ts'

/** Reading commands have nothing to read where nothing was ever written. */
export function assertDataExists(config: Config): void {
  const folder = dataDirOf(config)
  if (folder !== null && !existsSync(folder)) throw new Error(`${folder}: there is no chain (--data-dir)`)
}

/**
 * Opens the chain without serving it, for one piece of work, and closes it in any case. Ctrl-C closes it early: work
 * that takes long then ends at the next block.
 */
export async function withCore<T>(config: Config, work: (native: Addon) => Promise<T>): Promise<T> {
  const native = loadAddon()
  native.openNode(nodeConfig(config))
  const interrupt = (): void => {
    process.exitCode = 130
    void native.closeNode()
  }
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  try {
    return await work(native)
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    await native.closeNode()
  }
}
