import { readFileSync } from 'node:fs'
import type { Config } from './schema.ts'

/** The network that a chain specification file builds on, undefined when the file cannot tell. The core reads and judges the file. */
export function networkOf(file: string): Config['network'] | undefined {
  try {
    const { network } = JSON.parse(readFileSync(file, 'utf8')) as { network?: unknown }
    if (network === 'regtest' || network === 'devnet' || network === 'testnet' || network === 'mainnet') return network
    return network === 'testnet2' ? 'testnet' : undefined
  } catch {
    return undefined
  }
}
