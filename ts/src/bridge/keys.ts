import { keccak_256 } from '@noble/hashes/sha3'

/** Members of the federation that a regtest chain starts with (docs/spec/bridge.md, 9.3). */
const federators = ['federator1', 'federator2', 'federator3']

/** Returns the private keys of the federation. Each one serves for Bitcoin and for Rootstock. */
export function federatorKeys(): Uint8Array[] {
  return federators.map((text) => keccak_256(text))
}

/** Returns the Bitcoin key of the only user of the stand-in Bitcoin. */
export function bitcoinUserKey(): Uint8Array {
  return keccak_256('bitcoin user')
}
