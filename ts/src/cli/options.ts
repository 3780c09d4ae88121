import type { Command } from 'commander'
import { environment } from '../config/environment.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'

/** Flags that are settings: the flag's name in the parsed options, the flag as typed, the setting. */
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
  logLevel: ['--log-level', 'log.level'],
} as const

export type Parsed = Readonly<Partial<Record<keyof typeof settings | 'config', string | boolean>>>

/** Which chain and where it is kept: every command that opens a node takes these. */
export function addChainOptions(command: Command): Command {
  return command
    .option('--network <name>', 'regtest, devnet, testnet or mainnet (default: regtest)')
    .option('--chain <file>', 'chain specification file instead of a built-in network')
    .option('--data-dir <dir>', 'where the chain is kept (default: ./data/<network>)')
    .option(
      '--config <file>',
      'configuration file (TOML, or JSON when it is named so); flags win over the environment, that over the file',
    )
    .option('--log-level <level>', 'silent, error, warn, info, debug or trace')
}

/** What a regtest chain begins with: every command that opens its data needs to know. */
export function addDevelopmentOptions(command: Command): Command {
  return command
    .option('--chain-id <id>', 'regtest: chain id, 1 to 109 (default: 33)')
    .option('--mnemonic <words>', "regtest: funded accounts are those of a mnemonic (m/44'/60'/0'/0/0 ...)")
    .option('--accounts <number>', 'regtest: number of funded accounts (default: 10)')
    .option('--balance <coins>', 'regtest: RBTC of each funded account (default: 1000000000000)')
}

/** Where the state of the service is kept: what serves and what changes it take this. */
export function addStoreOption(command: Command): Command {
  return command.option('--store <url>', 'embedded, or the redis, rediss or unix URL of a store that nodes share')
}

/** The configuration from file, environment and flags. Throws ConfigError. */
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
