import { availableParallelism, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import type { HealthLimits } from '../observe/health.ts'
import { userCacheDir } from './environment.ts'
import type { Config } from './schema.ts'

// Defaults that depend on the network.

export function isDevelopment(config: Config): boolean {
  return config.network === 'regtest' || config.network === 'devnet'
}

/** Whether the node takes its blocks from the importers of a fleet. */
export function isReplica(config: Config): boolean {
  return config.fleet.role === 'replica'
}

export function isFork(config: Config): boolean {
  return config.fork.url !== ''
}

/** Returns the time for one request in milliseconds; 0: no limit. `isForked`: the chain of the node is a fork now. */
export function timeoutOf(config: Config, isForked = isFork(config)): number {
  // A cold fork waits for the other node: a call may need many round trips. Test suites mine thousands of blocks in one call.
  return config.rpc.timeoutMs ?? (isForked || config.tools ? 60_000 : 5000)
}

/** Returns the gas limit of one eth_call. Test suites sort and prove in functions that only read. */
export function callGasCapOf({ rpc, tools }: Config): number {
  return rpc.callGasCap ?? (tools ? 30_000_000 : 10_000_000)
}

/** Returns which estimates eth_estimateGas has. Calls that check for the gas left, e.g. of ERC-4337, fail with the number of the reference. */
export function estimateOf({ rpc, tools }: Config): 'reference' | 'tight' {
  return rpc.estimate || (tools ? 'tight' : 'reference')
}

/** Returns the folder of the cached results of remote nodes. */
export function forkCacheDirOf(config: Config): string {
  return config.fork.cacheDir === '' ? join(userCacheDir(), 'rhizome', 'fork') : config.fork.cacheDir
}

/** Returns the folder of a data directory; null: a temporary folder. */
export function dataDirOf(config: Config): string | null {
  if (config.ephemeral || isFork(config)) return null
  if (config.dataDir !== '') return config.dataDir
  return join('data', config.chain === '' ? config.network : basename(config.chain, '.json'))
}

/**
 * Returns the allowed origins of web pages. A development node has no real money, so web tools may call it, unless its
 * transactions would also be valid on a public network with the same chain id.
 */
export function originsOf(config: Config): readonly string[] {
  if (config.http.cors !== undefined) return config.http.cors
  const isHarmless = isDevelopment(config) && !publicChainIds.includes(config.development.chainId ?? 0)
  return isHarmless ? ['localhost', ...developmentOrigins] : ['localhost']
}

/** Chain ids of mainnet and testnet. */
const publicChainIds = [30, 31]

/** Origins of browser wallets, of Remix, and of titanoboa, which sends its name as its origin. */
const developmentOrigins = ['chrome-extension://*', 'moz-extension://*', 'remix.ethereum.org', 'titanoboa']

/** Age limit of the head on public networks, where a block is mined every 30 seconds on average. */
const publicHeadAgeSeconds = 300

export function healthLimitsOf(config: Config): HealthLimits {
  const { maxHeadAgeSeconds, maxLagBlocks, maxFleetFailureSeconds } = config.health
  const isAssumed = maxHeadAgeSeconds === undefined && !isDevelopment(config)
  return {
    maxHeadAgeSeconds: maxHeadAgeSeconds ?? (isAssumed ? publicHeadAgeSeconds : 0),
    maxLagBlocks,
    maxFleetFailureSeconds,
    needsPeers: isAssumed && !isReplica(config),
  }
}

/** Blocks below the head whose states can be proven on public networks, and with all states. */
const publicProvenBlocks = 128
const archiveProvenBlocks = 10_000

/** Returns the number of blocks below the head whose states have a trie; null: all blocks. */
export function provenBlocksOf(config: Config): number | null {
  const { proofs } = config.storage
  if (proofs === '') {
    if (isDevelopment(config)) return null
    return historyOf(config) === 'archive' ? archiveProvenBlocks : publicProvenBlocks
  }
  return proofs === 'all' ? null : Number(proofs)
}

/** Returns the states that are kept: a name, or a number of blocks below the head. */
export function historyOf(config: Config): string | number {
  const { history } = config.storage
  if (history === '') return isDevelopment(config) ? 'archive' : 'full'
  return /^[0-9]/.test(history) ? Number(history) : history
}

/** Returns whether transactions are indexed by address. */
export function hasAddressIndex(config: Config): boolean {
  return config.index.addresses ?? (config.index.calls || (config.explorer.enabled && isDevelopment(config)))
}

export function hasWallet(config: Config): boolean {
  return config.wallet ?? isDevelopment(config)
}

/** Returns the folder of encrypted keys; null: kept in memory. */
export function keyStoreDirOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'keystore')
}

/** Returns the file of apps and the hashes of their keys; null: not stored. */
export function appsFileOf(config: Config): string | null {
  if (config.auth.file !== '') return config.auth.file
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'apps.json')
}

/** Returns the file of the usage of apps; null: not stored. */
export function usageFileOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'usage.json')
}

/** Returns the bytes of requests, answers, filters and subscriptions that the whole process may hold. */
export function memoryLimitOf(config: Config): number {
  return config.limits.memoryMegabytes * 2 ** 20
}

/** Returns the folder of the figures over time of the operator's page; null: kept in memory. */
export function figuresDirOf(config: Config): string | null {
  const dataDir = dataDirOf(config)
  return dataDir === null ? null : join(dataDir, 'figures')
}

/** Returns the number of worker threads. Test suites send requests at the same time and rely on their order, which one worker keeps. */
export function workersOf(config: Config): number {
  if (config.http.workers !== 0) return config.http.workers
  return config.tools ? 1 : availableParallelism()
}

/** Returns the blocks below the head of the tags safe and finalized. */
export function tagDepthsOf(config: Config): { readonly safe: number; readonly finalized: number } {
  const [safe, finalized] = isDevelopment(config) ? [0, 0] : [12, 4000]
  return { safe: config.rpc.safeDepth ?? safe, finalized: config.rpc.finalizedDepth ?? finalized }
}

/** When the node mines: a block for each transaction, at an interval, or never. */
export type Mining =
  | { readonly mode: 'auto' }
  | { readonly mode: 'interval'; readonly milliseconds: number }
  | { readonly mode: 'off' }

export function miningOf(config: Config): Mining {
  const assumed = isDevelopment(config) && !isReplica(config) ? 'auto' : 'off'
  const mining = config.mining === '' ? assumed : config.mining
  if (mining.startsWith('interval=')) {
    return { mode: 'interval', milliseconds: Math.round(Number(mining.slice('interval='.length)) * 1000) }
  }
  return { mode: mining === 'auto' ? 'auto' : 'off' }
}

/** Memory of an import besides that of the database. */
const programMegabytes = 256
/**
 * Most memory for trie nodes by default, in MB: a node must stay below 1 GB while it synchronizes a large state. A command has the machine
 * for itself, and growing from 2.5 to 5 million entries takes a seventh less time than with 1024.
 */
const mostTrieMegabytes = { node: 192, import: 4096, command: 4096, reading: 4096 }

/** Process that opens a database: a node with its workers and peers, an import, a command that changes it, or a command that reads it. */
export type DatabaseUse = keyof typeof mostTrieMegabytes

/** Returns the memory of the database in bytes. `memoryBytes`: memory that this process may use. */
export function databaseMemoryOf(config: Config, use: DatabaseUse, memoryBytes = availableMemory()) {
  const memory = memoryBytes / 2 ** 20
  const share = (part: number, most: number, of = memory) => Math.min(most, Math.max(8, Math.floor(of / part)))
  const { cacheMegabytes, trieMegabytes, writeBufferMegabytes } = config.storage
  return {
    cacheBytes: (cacheMegabytes ?? share(8, 256)) * 2 ** 20,
    trieBytes: (trieMegabytes ?? share(4, mostTrieMegabytes[use], memory - programMegabytes)) * 2 ** 20,
    writeBufferBytes: (writeBufferMegabytes ?? share(16, 64)) * 2 ** 20,
  }
}

/** Returns the memory of the machine, or that of the container if it has less. */
function availableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
