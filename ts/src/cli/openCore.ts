import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirOf } from '../config/network.ts'
import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { loadAddon } from '../native/load.ts'
import { nodeConfig } from '../nodeConfig.ts'

/** The data directory. Commands have nothing to do with a node that keeps nothing. */
function dataDirIn(config: Config): string {
  const folder = dataDirOf(config)
  if (folder === null) throw new Error('ephemeral: this node keeps nothing; give --data-dir, and leave ephemeral out')
  return folder
}

/** What a database has from its first moment on. */
function hasChain(folder: string): boolean {
  return existsSync(join(folder, 'chain', 'CURRENT'))
}

/** Reading commands have nothing to read where nothing was ever written, and must not leave a new chain there. */
export function assertDataExists(config: Config): void {
  const folder = dataDirIn(config)
  if (!hasChain(folder)) throw new Error(`${folder}: there is no chain (--data-dir)`)
}

/** A file that cannot be read is no reason to make a data directory. */
export function assertReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new Error(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (statSync(path).isDirectory()) throw new Error(`${path}: is a directory`)
}

/**
 * Opens the chain without serving it, for one piece of work, and closes it in any case. Ctrl-C closes it early: work
 * that takes long then ends at the next block.
 */
export async function withCore<T>(config: Config, work: (native: Addon) => Promise<T>): Promise<T> {
  const native = loadAddon()
  native.openNode(await nodeConfig(config))
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

/** The same for work that may make a new chain: if it fails before there is a block, nothing of that chain stays. */
export async function withNewCore<T>(config: Config, work: (native: Addon) => Promise<T>): Promise<T> {
  const folder = dataDirIn(config)
  if (hasChain(folder)) return withCore(config, work)
  const made = mkdirSync(folder, { recursive: true })
  let hasBlocks = false
  try {
    return await withCore(config, async (native) => {
      try {
        return await work(native)
      } finally {
        hasBlocks = (JSON.parse(native.nodeInfo()) as { number: number }).number > 0
      }
    })
  } catch (error) {
    if (!hasBlocks) {
      for (const name of made === undefined ? ['chain', 'rhizome.lock'] : ['.']) {
        rmSync(join(made ?? folder, name), { recursive: true, force: true })
      }
    }
    throw error
  }
}
