import { HDNodeWallet, Mnemonic } from 'ethers/wallet'

/** Derivation path that wallets and other development nodes use for the accounts of a mnemonic. */
const path = "m/44'/60'/0'/0"

export function isMnemonic(words: string): boolean {
  return Mnemonic.isValidMnemonic(words)
}

/** Returns the first private keys of a mnemonic (BIP-39, BIP-44), as hex. */
export function keysOfMnemonic(words: string, count: number): string[] {
  const parent = HDNodeWallet.fromPhrase(words, '', path)
  return Array.from({ length: count }, (_none, index) => parent.deriveChild(index).privateKey)
}
