import { keccak_256 } from '@noble/hashes/sha3'
import { ConfigError } from './config/error.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'

const defaultCount = 10
const weiPerCoin = 10n ** 18n
const defaultBalance = 1_000_000_000_000

/** Funded accounts of a development chain that replace the well-known ones. */
export interface DevelopmentAccounts {
  /** Private keys as hex, in the order of `eth_accounts`. */
  readonly keys: readonly string[]
  /** Balance of each account in the genesis block, as a decimal number. */
  readonly balanceWei: string
}

/** Returns the accounts of the settings; undefined if the settings define none. Throws ConfigError. */
export async function developmentAccounts({ development }: Config): Promise<DevelopmentAccounts | undefined> {
  const { mnemonic, accounts, balance } = development
  if (mnemonic === '' && accounts === undefined && balance === undefined) return undefined
  const count = accounts ?? defaultCount
  return {
    keys: mnemonic === '' ? keysOfTexts(accountTexts(count)) : await keysOf(mnemonic, count),
    balanceWei: String(BigInt(balance ?? defaultBalance) * weiPerCoin),
  }
}

/** Returns the private keys of the initial accounts of a development node, in the order of `eth_accounts`. Throws ConfigError. */
export async function developmentKeys(config: Config): Promise<readonly string[]> {
  if (!isDevelopment(config)) return []
  const own = await developmentAccounts(config)
  return own?.keys ?? keysOfTexts([...accountTexts(defaultCount), 'regtest_miner_secret_please_change'])
}

/** Returns the texts whose hashes are the keys of the well-known accounts. */
function accountTexts(count: number): string[] {
  return Array.from({ length: count }, (_none, index) => (index === 0 ? 'cow' : `cow${index}`))
}

function keysOfTexts(texts: readonly string[]): string[] {
  return texts.map((text) => `0x${Buffer.from(keccak_256(text)).toString('hex')}`)
}

async function keysOf(mnemonic: string, count: number): Promise<string[]> {
  // Imported on demand: loading it takes longer than the rest of the start.
  const { isMnemonic, keysOfMnemonic } = await import('./keystore/mnemonic.ts')
  if (!isMnemonic(mnemonic)) {
    throw new ConfigError([
      'development.mnemonic: expected 12 to 24 words of the English list (BIP-39) with a valid checksum',
    ])
  }
  return keysOfMnemonic(mnemonic, count)
}
