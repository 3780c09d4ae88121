import { keccak_256 } from '@noble/hashes/sha3'
import { ConfigError } from './config/error.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'

const usualCount = 10
const weiPerCoin = 10n ** 18n
const usualBalance = 1_000_000_000_000

/** Accounts that settings put in place of those that every development node has. */
export interface DevelopmentAccounts {
  /** Private keys as hex, in the order of `eth_accounts`. */
  readonly keys: readonly string[]
  /** What the genesis block gives each of them, as a decimal number. */
  readonly balanceWei: string
}

/** Undefined where the settings name none of their own. Throws ConfigError. */
export async function developmentAccounts({ development }: Config): Promise<DevelopmentAccounts | undefined> {
  const { mnemonic, accounts, balance } = development
  if (mnemonic === '' && accounts === undefined && balance === undefined) return undefined
  const count = accounts ?? usualCount
  return {
    keys: mnemonic === '' ? keysOfTexts(accountTexts(count)) : await keysOf(mnemonic, count),
    balanceWei: String(BigInt(balance ?? usualBalance) * weiPerCoin),
  }
}

/** The private keys of the accounts that a development node holds from the start, in the order of `eth_accounts`. */
export async function developmentKeys(config: Config): Promise<readonly string[]> {
  if (!isDevelopment(config)) return []
  const own = await developmentAccounts(config)
  return own?.keys ?? keysOfTexts([...accountTexts(usualCount), 'regtest_miner_secret_please_change'])
}

/** The keys of the usual accounts are the hashes of these texts. */
function accountTexts(count: number): string[] {
  return Array.from({ length: count }, (_none, index) => (index === 0 ? 'cow' : `cow${index}`))
}

function keysOfTexts(texts: readonly string[]): string[] {
  return texts.map((text) => `0x${Buffer.from(keccak_256(text)).toString('hex')}`)
}

async function keysOf(mnemonic: string, count: number): Promise<string[]> {
  // Loaded for those who want it: it takes longer than the rest of the start.
  const { isMnemonic, keysOfMnemonic } = await import('./keystore/mnemonic.ts')
  if (!isMnemonic(mnemonic)) {
    throw new ConfigError([
      'development.mnemonic: expected 12 to 24 words of the English list (BIP-39) with a good checksum',
    ])
  }
  return keysOfMnemonic(mnemonic, count)
}
