import { decidedChoices, remascVisibility } from './config/choices.ts'
import {
  callGasCapOf,
  type DatabaseUse,
  databaseMemoryOf,
  dataDirOf,
  estimateOf,
  forkCacheDirOf,
  hasAddressIndex,
  hasWallet,
  historyOf,
  isFork,
  keyStoreDirOf,
  miningOf,
  provenBlocksOf,
  tagDepthsOf,
} from './config/network.ts'
import type { Config } from './config/schema.ts'
import { developmentAccounts } from './developmentKeys.ts'
import { version } from './version.ts'

/** Returns the argument of the addon's `openNode`, as JSON. Throws ConfigError. */
export async function nodeConfig(config: Config, use: DatabaseUse = 'node'): Promise<string> {
  const choices = decidedChoices(config)
  return JSON.stringify({
    network: config.network,
    chainFile: config.chain === '' ? null : config.chain,
    chainId: config.development.chainId ?? null,
    fleetRole: config.fleet.role === 'standalone' ? null : config.fleet.role,
    hasAgreedLatest: config.fleet.latest === 'agreed',
    fork: isFork(config) ? forkOf(config) : null,
    forkCacheDir: config.fork.cache ? forkCacheDirOf(config) : null,
    development: (await developmentAccounts(config)) ?? null,
    dataDir: dataDirOf(config),
    mining: miningOf(config),
    hasWallet: hasWallet(config),
    coinbase: config.miner.coinbase === '' ? null : config.miner.coinbase,
    extraData: config.miner.extraData === '' ? null : config.miner.extraData,
    minimumGasPriceWei: config.miner.minimumGasPriceWei,
    hasFixedClock: config.miner.fixedClock,
    hasRateLimiter: config.pool.rateLimiter === '' ? null : config.pool.rateLimiter === 'on',
    keyStoreDir: keyStoreDirOf(config),
    beginsWithBlock: config.tools,
    remasc: remascVisibility(config),
    zeroSignatureIfRemasc: config.rpc.zeroSignatureIfRemasc,
    ...databaseMemoryOf(config, use),
    isPowerSafe: config.storage.powerSafe,
    provenBlocks: provenBlocksOf(config),
    history: historyOf(config),
    // A command gives up no states, and makes and removes no snapshots: its settings are often not those of the node.
    prunesStates: use === 'node' || use === 'import',
    isReadOnly: use === 'reading',
    hasSnapshots: config.storage.snapshots || config.p2p.snapServer,
    hasAddressIndex: hasAddressIndex(config),
    hasCallIndex: config.index.calls,
    flushedKeys: config.storage.flushedKeys,
    groupedBlocks: config.storage.groupedBlocks,
    isTrieInMemory: config.storage.trie === 'memory',
    oldStateRoots: config.oldStateRoots,
    checkpoints: config.p2p.checkpoints.map(checkpointOf),
    works: {
      followPool: config.miner.followPool ?? null,
      refreshSeconds: config.miner.refreshSeconds,
      submissionIntervalSeconds: config.miner.submissionIntervalSeconds,
      notifiedFeesWei: config.miner.notifiedFeesWei,
    },
    poolQueue: config.rpc.maxWaiting,
    callGasCap: callGasCapOf(config),
    estimateGasCap: config.rpc.estimateGasCap,
    estimate: estimateOf(config),
    proofFormat: config.rpc.proofFormat,
    logBlocks: config.rpc.logBlocks,
    logCount: config.rpc.logCount,
    traceBytes: config.rpc.maxTraceBytes,
    traceCount: config.rpc.maxTraces,
    clientVersion: clientVersion(choices.clientVersion),
    tagDepths: choices.depthTags === 'serve' ? tagDepthsOf(config) : null,
    choices,
  })
}

/** Returns the chain that a fork continues. */
function forkOf(config: Config): object {
  const { url, block, key } = config.fork
  return {
    ...(/^https?:\/\//.test(url) ? { url } : { dir: url }),
    block: block === '' ? null : block,
    header: key === '' ? null : key,
  }
}

/** Returns number and hash of a checkpoint NUMBER:HASH. */
function checkpointOf(text: string): [number, string] {
  const [number = '', hash = ''] = text.split(':')
  return [Number(number), hash]
}

/** Returns the answer of web3_clientVersion. Development tools check its first word. */
function clientVersion(choice: 'tools' | 'own'): string {
  const platform = `${process.platform}-${process.arch}`
  return choice === 'tools'
    ? `anvil/v1.0.0 Rhizome/${version}/${platform}`
    : `Rhizome/${version}/${platform}/node-${process.version}`
}
