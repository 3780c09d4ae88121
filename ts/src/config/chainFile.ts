import { readFileSync } from 'node:fs'
import type { Config } from './schema.ts'

/** Returns the network of a chain specification file; undefined if the file names none. The core reads and checks the file. */
export function networkOfChainFile(file: string): Config['network'] | undefined {
  try {
    const { network } = JSON.parse(readFileSync(file, 'utf8')) as { network?: unknown }
    if (network === 'regtest' || network === 'devnet' || network === 'testnet' || network === 'mainnet') return network
    return network === 'testnet2' ? 'testnet' : undefined
  } catch {
    return undefined
  }
}
