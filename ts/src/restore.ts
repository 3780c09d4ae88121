import { ConfigError } from './config/error.ts'
import { dataDirOf, isFork } from './config/network.ts'
import type { Config } from './config/schema.ts'
import type { Addon } from './native/bindings.ts'
import type { Logger } from './observe/log.ts'

const reportMs = 10_000

/** A checkpoint, as the core prints it. */
export interface Checkpoint {
  readonly name: string
  readonly number: number
  readonly hash: string
  readonly layout: number
  readonly hasAllTries: boolean
  /** Number of the oldest block whose state is kept. */
  readonly oldestState: number
  /** Seconds since 1970. */
  readonly created: number
  readonly files: number
  readonly bytes: number
  readonly publisher: string
  /** After a creation: new bytes in the location. */
  readonly written?: number
  /** After a restore: downloaded bytes. */
  readonly read?: number
}

/** Where a node restores checkpoints from. */
export interface RestoreSettings {
  /** Folder, or http, https or s3 URL. */
  readonly location: string
  /** Public key of the only accepted publisher. */
  readonly trust: string
}

/** Returns from where the node restores a checkpoint; undefined if it does not. Throws ConfigError. */
export function restoreSettings(config: Config): RestoreSettings | undefined {
  const { restore, trust } = config.fleet
  if (restore === '') return undefined
  const problems = [
    ...(trust === ''
      ? ['fleet.restore: needs fleet.trust (--trust), the public key of the only accepted publisher']
      : []),
    ...(dataDirOf(config) === null && !isFork(config)
      ? ['fleet.restore: an ephemeral node has no data directory; use --data-dir instead of --ephemeral']
      : []),
    ...(isFork(config) ? ['fleet.restore: a fork begins with the chain that it continues'] : []),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return { location: restore, trust }
}

/** Restores the latest checkpoint into a data directory without a chain, and logs the progress. `config`: that of `openNode`. */
export async function restoreAtStart(
  native: Addon,
  config: string,
  { location, trust }: RestoreSettings,
  logger: Pick<Logger, 'info'>,
): Promise<void> {
  let reportedMs = performance.now()
  const onProgress = (_error: Error | null, progress: string): void => {
    if (performance.now() - reportedMs < reportMs) return
    reportedMs = performance.now()
    logger.info(JSON.parse(progress), 'restoring a checkpoint')
  }
  const restored = JSON.parse(
    await native.restoreCheckpoint(config, location, '', trust, onProgress),
  ) as Checkpoint | null
  if (restored === null) {
    logger.info('the data directory has a chain: no checkpoint is restored')
    return
  }
  const { name, number, hash, bytes, read } = restored
  logger.info({ name, number, hash, bytes, read }, 'checkpoint restored')
}
