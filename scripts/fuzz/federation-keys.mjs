// Keys of regtest (docs/spec/bridge.md, 9.3): members of federations, authorizers, and accounts with funds.
import { pubECDSA } from '@scure/btc-signer/utils'
import { getBytes, id } from 'ethers'

export const users = ['cow', 'cow1', 'cow2', 'cow3'].map(keyOf)
export const authorizers = ['auth-a', 'auth-b', 'auth-c', 'auth-d', 'auth-e'].map(keyOf)
export const feeAuthorizer = keyOf('auth-fee-per-kb')
export const capAuthorizer = keyOf('auth-increase_locking_cap')
export const whitelistAuthorizer = keyOf('auth-lock-whitelist')
export const unionAuthorizer = keyOf('changeUnionBridgeContractAddressAuthorizer')
/** Possible members of federations, those of the first one first. Some have a different key for each use. */
export const members = [
  ...['federator1', 'federator2', 'federator3'].map((name) => memberOf(name, name, name)),
  ...Array.from({ length: 12 }, (_none, index) => {
    const name = `member ${index}`
    return index % 3 === 0 ? memberOf(name, name, name) : memberOf(name, `${name} of Rootstock`, `${name} of both`)
  }),
]
/** All senders without funds. */
export const poorSenders = [
  ...authorizers,
  feeAuthorizer,
  capAuthorizer,
  whitelistAuthorizer,
  unionAuthorizer,
  ...members.map(({ rsk }) => rsk),
]

export function keyOf(text) {
  return getBytes(id(text))
}

function memberOf(bitcoin, rsk, mst) {
  const key = keyOf(bitcoin)
  return { bitcoin: key, publicKey: Buffer.from(pubECDSA(key)), rsk: keyOf(rsk), mst: keyOf(mst) }
}
