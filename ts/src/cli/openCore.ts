import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { constants as system } from 'node:os'
import { join } from 'node:path'
import { type DatabaseUse, dataDirOf } from '../config/network.ts'
import type { Config } from '../config/schema.ts'
import type { Addon } from '../native/bindings.ts'
import { loadAddon } from '../native/load.ts'
import { nodeConfig } from '../nodeConfig.ts'

/** Time in which interrupted work ends, in milliseconds. */
const interruptMs = 10_000

/** Returns the data directory. Throws for an ephemeral node. */
export function dataDirIn(config: Config): string {
  const folder = dataDirOf(config)
  if (folder === null) throw new Error('ephemeral, fork.url: such a node has no data directory; use --data-dir instead')
  return folder
}

/** Returns whether a folder contains a chain, or the rest of a damaged one: the core names the missing file. */
function hasChain(folder: string): boolean {
  const chain = join(folder, 'chain')
  return existsSync(chain) && readdirSync(chain).some((name) => name === 'CURRENT' || /\.(sst|log)$/.test(name))
}

/** Throws unless a chain exists: only an import creates one. */
export function assertDataExists(config: Config): void {
  const folder = dataDirIn(config)
  if (!hasChain(folder)) throw new Error(`${folder}: there is no chain (--data-dir)`)
}

/** Throws unless a file is readable. Called before a data directory is created for it. */
export function assertReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new Error(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (statSync(path).isDirectory()) throw new Error(`${path}: is a directory`)
}

/**
 * Opens the chain without serving it, runs `work`, and closes the chain. Ctrl-C closes it early: long work then ends at the
 * next block.
 */
export async function withCore<T>(
  config: Config,
  work: (native: Addon) => Promise<T>,
  use: DatabaseUse = 'command',
): Promise<T> {
  const native = loadAddon()
  const opened = JSON.parse(native.openNode(await nodeConfig(config, use))) as { number: number; warning?: string }
  if (opened.warning !== undefined) process.stderr.write(`head ${opened.number}: ${opened.warning}\n`)
  const interrupt = (signal: NodeJS.Signals): void => {
    const code = 128 + system.signals[signal]
    process.exitCode = code
    // Work that waits for silent input cannot be stopped. Everything that was written is whole, as after a kill.
    setTimeout(() => process.exit(code), interruptMs).unref()
    native.closeNode().catch(() => undefined)
  }
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  // The reader of the output has left, as after `| head -1`.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => interrupt('SIGPIPE'))
  try {
    return await work(native)
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    await native.closeNode()
  }
}

/** Like `withCore`, for work that reads a chain that exists: also with a full disk, and beside other readers. */
export async function withReadOnlyCore<T>(config: Config, work: (native: Addon) => Promise<T>): Promise<T> {
  assertDataExists(config)
  return withCore(config, work, 'reading')
}

/**
 * Like `withCore`, for work that adds blocks and may create a chain. Deletes a new chain if the work fails before the first block, but
 * nothing that was there before, and nothing after a signal.
 */
export async function withNewCore<T>(config: Config, work: (native: Addon) => Promise<T>): Promise<T> {
  const folder = dataDirIn(config)
  if (hasChain(folder)) return withCore(config, work, 'import')
  const made = mkdirSync(folder, { recursive: true })
  let isEmpty = true
  try {
    const noteBlocks = async (native: Addon): Promise<T> => {
      isEmpty = false
      try {
        return await work(native)
      } catch (error) {
        // A closed core has no head.
        isEmpty = process.exitCode === undefined && (JSON.parse(native.nodeInfo()) as { number: number }).number === 0
        throw error
      }
    }
    return await withCore(config, noteBlocks, 'import')
  } catch (error) {
    if (isEmpty) {
      for (const name of made === undefined ? ['chain', 'rhizome.lock'] : ['.']) {
        rmSync(join(made ?? folder, name), { recursive: true, force: true })
      }
    }
    throw error
  }
}
