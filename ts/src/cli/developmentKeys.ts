import type { Addon } from '../native/bindings.ts'

/** The keys of the accounts of a development node are the hashes of these texts, in the order of eth_accounts. */
const texts = [
  'cow',
  ...Array.from({ length: 9 }, (_none, index) => `cow${index + 1}`),
  'regtest_miner_secret_please_change',
]

export function developmentKeys(native: Addon): string[] {
  return texts.map((text) => JSON.parse(native.web3Sha3(`0x${Buffer.from(text).toString('hex')}`).toString()) as string)
}
