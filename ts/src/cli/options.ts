import type { Command } from 'commander'
import { environment } from '../config/environment.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'

/** Flags that set a setting: name in the parsed options, flag, setting. */
const settings = {
  network: ['--network', 'network'],
  chain: ['--chain', 'chain'],
  dataDir: ['--data-dir', 'dataDir'],
  ephemeral: ['--ephemeral', 'ephemeral'],
  compat: ['--compat', 'compat'],
  tools: ['--tools', 'tools'],
  httpHost: ['--http-host', 'http.host'],
  httpPort: ['--http-port', 'http.port'],
  tlsCert: ['--tls-cert', 'http.tlsCert'],
  tlsKey: ['--tls-key', 'http.tlsKey'],
  workers: ['--workers', 'http.workers'],
  mining: ['--mining', 'mining'],
  chainId: ['--chain-id', 'development.chainId'],
  mnemonic: ['--mnemonic', 'development.mnemonic'],
  accounts: ['--accounts', 'development.accounts'],
  balance: ['--balance', 'development.balance'],
  cors: ['--cors', 'http.cors'],
  open: ['--open', 'auth.open'],
  store: ['--store', 'store.url'],
  admin: ['--admin', 'admin.enabled'],
  adminPort: ['--admin-port', 'admin.port'],
  explorer: ['--explorer', 'explorer.enabled'],
  explorerPort: ['--explorer', 'explorer.port'],
  p2pHost: ['--p2p-host', 'p2p.host'],
  p2pPort: ['--p2p-port', 'p2p.port'],
  peers: ['--peers', 'p2p.peers'],
  bootnodes: ['--bootnodes', 'p2p.bootnodes'],
  discovery: ['--discovery', 'p2p.discovery'],
  maxPeers: ['--max-peers', 'p2p.maxPeers'],
  nodeKey: ['--node-key', 'p2p.nodeKey'],
  publicIp: ['--public-ip', 'p2p.publicIp'],
  sync: ['--sync', 'p2p.sync'],
  snapServer: ['--snap-server', 'p2p.snapServer'],
  checkpoint: ['--checkpoint', 'p2p.checkpoints'],
  fork: ['--fork', 'fork.url'],
  forkBlock: ['--fork-block', 'fork.block'],
  forkKey: ['--fork-key', 'fork.key'],
  forkCache: ['--no-fork-cache', 'fork.cache'],
  indexAddresses: ['--index-addresses', 'index.addresses'],
  indexCalls: ['--index-calls', 'index.calls'],
  fleet: ['--fleet', 'fleet.role'],
  fleetUrl: ['--fleet-url', 'fleet.url'],
  restore: ['--restore', 'fleet.restore'],
  fleetTrust: ['--trust', 'fleet.trust'],
  logLevel: ['--log-level', 'log.level'],
} as const

export type Parsed = Readonly<Partial<Record<keyof typeof settings | 'config', string | boolean>>>

/** Adds the flags that select chain and data directory, for every command that opens a node. */
export function addChainOptions(command: Command): Command {
  return command
    .option('--network <name>', 'regtest, devnet, testnet or mainnet (default: regtest)')
    .option('--chain <file>', 'chain specification file instead of a built-in network')
    .option('--data-dir <dir>', 'data directory (default: ./data/<network>)')
    .option(
      '--config <file>',
      'configuration file (TOML, or JSON if it ends in .json); flags override the environment, which overrides the file',
    )
    .option('--log-level <level>', 'silent, error, warn, info, debug or trace')
}

/** Adds the flags of the regtest genesis block, for every command that opens the chain. */
export function addDevelopmentOptions(command: Command): Command {
  return command
    .option('--chain-id <id>', 'regtest: chain id, 1 to 109 (default: 33)')
    .option('--mnemonic <words>', "regtest: mnemonic of the funded accounts (m/44'/60'/0'/0/0 ...)")
    .option('--accounts <number>', 'regtest: number of funded accounts (default: 10)')
    .option('--balance <coins>', 'regtest: RBTC of each funded account (default: 1000000000000)')
}

/** Adds the flag of the store, for commands that serve or change apps. */
export function addStoreOption(command: Command): Command {
  return command.option('--store <url>', 'embedded, or the redis, rediss or unix URL of a shared store')
}

/** Reads the configuration from file, environment and flags. Throws ConfigError. */
export function configFrom(parsed: Parsed, presets: Readonly<Record<string, string>> = {}): Config {
  const flags: Record<string, { value: string | boolean; flag: string }> = {}
  for (const [path, value] of Object.entries(presets)) flags[path] = { value, flag: '' }
  for (const [name, [flag, path]] of Object.entries(settings)) {
    const value = parsed[name as keyof typeof settings]
    if (value !== undefined) flags[path] = { value, flag }
  }
  const file = typeof parsed.config === 'string' ? parsed.config : undefined
  return loadConfig({ file, environment: environment(), flags })
}
