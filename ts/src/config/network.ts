import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import type { HealthLimits } from '../observe/health.ts'
import type { Config } from './schema.ts'

// Defaults that depend on the network.

export function isDevelopment(config: Config): boolean {
  return config.network === 'regtest' || config.network === 'devnet'
}

export function dataDirOf(config: Config): string | null {
  if (config.ephemeral) return null
  if (config.dataDir !== '') return config.dataDir
  return join('data', config.chain === '' ? config.network : basename(config.chain, '.json'))
}

/**
 * Of web pages. Whatever reaches a development node finds no money there, so tools that are web pages may call it; but what
 * is signed for the chain id of a public network is good there, too.
 */
export function originsOf(config: Config): readonly string[] {
  if (config.http.cors !== undefined) return config.http.cors
  const isHarmless = isDevelopment(config) && !publicChainIds.includes(config.development.chainId ?? 0)
  return isHarmless ? ['localhost', ...developmentOrigins] : ['localhost']
}

/** Of mainnet and testnet. */
const publicChainIds = [30, 31]

/** Wallets of browsers call from pages of their own, Remix is a web site, and titanoboa sends its name as its origin. */
const developmentOrigins = ['chrome-extension://*', 'moz-extension://*', 'remix.ethereum.org', 'titanoboa']

/** The head of a public network is not older than this as long as anybody mines: a block comes every 30 seconds. */
const publicHeadAgeSeconds = 300

export function healthLimitsOf(config: Config): HealthLimits {
  const { maxHeadAgeSeconds, maxLagBlocks } = config.health
  const isAssumed = maxHeadAgeSeconds === undefined && !isDevelopment(config)
  return {
    maxHeadAgeSeconds: maxHeadAgeSeconds ?? (isAssumed ? publicHeadAgeSeconds : 0),
    maxLagBlocks,
    needsPeers: isAssumed,
  }
}

export function hasWallet(config: Config): boolean {
  return config.wallet ?? isDevelopment(config)
}

/** Where encrypted keys are kept; null: as long as the node runs. */
export function keyStoreDirOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'keystore')
}

/** Where apps and the hashes of their keys are kept; null: nowhere. */
export function appsFileOf(config: Config): string | null {
  if (config.auth.file !== '') return config.auth.file
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'apps.json')
}

/** Where it is kept what apps have used; null: nowhere. */
export function usageFileOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'usage.json')
}

/** Bytes that may wait for clients in the whole process. */
export function memoryLimitOf(config: Config): number {
  return config.limits.memoryMegabytes * 2 ** 20
}

/** The folder of the figures that the operator's page shows over time; null: they are kept in memory. */
export function figuresDirOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'figures')
}

export function workersOf(config: Config): number {
  return config.http.workers === 0 ? availableParallelism() : config.http.workers
}

/** How blocks come about: one for each transaction, one every so many seconds, or none. */
export type Mining =
  | { readonly mode: 'auto' }
  | { readonly mode: 'interval'; readonly milliseconds: number }
  | { readonly mode: 'off' }

export function miningOf(config: Config): Mining {
  const mining = config.mining === '' ? (isDevelopment(config) ? 'auto' : 'off') : config.mining
  if (mining.startsWith('interval=')) {
    return { mode: 'interval', milliseconds: Math.round(Number(mining.slice('interval='.length)) * 1000) }
  }
  return { mode: mining === 'auto' ? 'auto' : 'off' }
}
