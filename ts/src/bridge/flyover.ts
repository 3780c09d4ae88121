import { keccak_256 } from '@noble/hashes/sha3'
import { Script } from '@scure/btc-signer'
import { hash160 } from '@scure/btc-signer/utils'

/**
 * Creation code of a liquidity provider: the contract that calls the Bridge in a flyover peg-in. Its input is the receiver
 * in one word, and the data of the call. It sends the amount that the Bridge returns to the receiver, and returns the
 * result of the Bridge. Without input it accepts a payment.
 */
export const providerCode = `0x${[
  // Return the 69 bytes behind these 12.
  '6045600c60003960456000f3',
  // if calldatasize = 0: stop
  '3615604357',
  // calldatacopy(0, 32, calldatasize - 32)
  '602036036020600037',
  // call(gas, Bridge, 0, 0, calldatasize - 32, 0, 32)
  '60206000602036036000600063010000065af150',
  // if result > 0 (signed): call(gas, receiver, result, 0, 0, 0, 0)
  '60005160001215603d57',
  '60006000600060006000516000355af150',
  // return(0, 32)
  '5b60206000f3',
  '5b00',
].join('')}`

/** Agreement of a flyover peg-in. */
export interface FlyoverTerms {
  /** Hash of the terms between user and provider. */
  readonly argumentsHash: Uint8Array
  /** Bitcoin addresses as the Bridge takes them: version and hash. */
  readonly userRefund: Uint8Array
  readonly providerAddress: Uint8Array
  /** Contract that calls the Bridge. */
  readonly contract: string
}

/** Returns the P2SH script of the federation for an agreement (docs/spec/bridge.md, 6.6). */
export function flyoverScript(redeemScript: Uint8Array, terms: FlyoverTerms): Uint8Array {
  const { argumentsHash, userRefund, providerAddress, contract } = terms
  const parts = [argumentsHash, userRefund, Buffer.from(contract.slice(2), 'hex'), providerAddress]
  const derivation = keccak_256(Buffer.concat(parts))
  const script = Buffer.concat([Script.encode([derivation, 'DROP']), redeemScript])
  return Script.encode(['HASH160', hash160(script), 'EQUAL'])
}
