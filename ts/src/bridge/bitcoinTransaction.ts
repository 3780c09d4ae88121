import { Address, OutScript, p2pkh, RawTx, Script, SigHash, TEST_NETWORK, Transaction } from '@scure/btc-signer'
import { pubECDSA, sha256x2, signECDSA } from '@scure/btc-signer/utils'

/** Bitcoin that the coinbase of a stand-in block leaves to the miner for the fee of a payment. */
const feeSatoshis = 10_000n

/** An output: script and amount in satoshis. */
export interface Output {
  readonly script: Uint8Array
  readonly amount: bigint
}

/** Returns the id of a transaction without witness, in the order of the bytes that are hashed. */
export function idOf(raw: Uint8Array): Uint8Array {
  return sha256x2(raw)
}

/** Returns the coinbase of a stand-in block. The height makes it unique. */
export function coinbase(height: number, outputs: readonly Output[]): Uint8Array {
  const number = Buffer.alloc(4)
  number.writeUInt32LE(height)
  const input = {
    txid: new Uint8Array(32),
    index: 0xffffffff,
    finalScriptSig: Script.encode([number]),
    sequence: 0xffffffff,
  }
  return RawTx.encode({
    version: 1,
    segwitFlag: false,
    inputs: [input],
    outputs: [...outputs],
    witnesses: [],
    lockTime: 0,
  })
}

/** A payment, and the coinbase of an earlier block that it spends. */
export interface Payment {
  readonly funding: Uint8Array
  readonly raw: Uint8Array
}

/** Makes the Bitcoin for a payment of a P2PKH key, and pays. `height` is that of the block that makes it. */
export function pay(key: Uint8Array, height: number, outputs: readonly Output[]): Payment {
  const { script } = p2pkh(pubECDSA(key), TEST_NETWORK)
  const total = outputs.reduce((sum, { amount }) => sum + amount, feeSatoshis)
  const funding = coinbase(height, [{ script, amount: total }])
  const payment = new Transaction({ allowUnknownOutputs: true, version: 2 })
  payment.addInput({ txid: Buffer.from(idOf(funding)).reverse(), index: 0, nonWitnessUtxo: funding })
  for (const output of outputs) payment.addOutput({ ...output })
  payment.sign(key)
  payment.finalize()
  return { funding, raw: payment.extract() }
}

/** Returns the output script of an address. */
export function scriptOf(address: string): Uint8Array {
  return OutScript.encode(Address(TEST_NETWORK).decode(address))
}

/** Returns an address as the Bridge takes it: version and hash, 21 bytes. */
export function addressBytes(key: Uint8Array): Uint8Array {
  const { hash } = p2pkh(pubECDSA(key), TEST_NETWORK) as { hash: Uint8Array }
  return Buffer.from([TEST_NETWORK.pubKeyHash, ...hash])
}

/** Returns the address of a P2PKH key. */
export function addressOf(key: Uint8Array): string {
  return p2pkh(pubECDSA(key), TEST_NETWORK).address as string
}

/**
 * Signs all inputs of a transaction of a federation. Each input has placeholders for signatures and the redeem script
 * (docs/spec/bridge.md, 7.5.4). Returns DER signatures without the byte of their kind.
 */
export function federationSignatures(raw: Uint8Array, key: Uint8Array): Uint8Array[] {
  const transaction = RawTx.decode(raw)
  if (transaction.segwitFlag) throw new Error('federations with segwit addresses are not supported')
  const empty = transaction.inputs.map((input) => ({ ...input, finalScriptSig: new Uint8Array() }))
  return transaction.inputs.map(({ finalScriptSig }, index) => {
    const redeemScript = Script.decode(finalScriptSig).at(-1) as Uint8Array
    const inputs = empty.map((input, other) => (other === index ? { ...input, finalScriptSig: redeemScript } : input))
    const kind = Buffer.from([SigHash.ALL, 0, 0, 0])
    return signECDSA(sha256x2(RawTx.encode({ ...transaction, inputs }), kind), key)
  })
}

/** Outputs of a transaction, with their addresses if they have one. */
export function outputsOf(raw: Uint8Array): { address: string | undefined; satoshis: string }[] {
  return RawTx.decode(raw).outputs.map(({ script, amount }) => {
    const output = OutScript.decode(script)
    const hasAddress = output.type === 'pkh' || output.type === 'sh'
    return { address: hasAddress ? Address(TEST_NETWORK).encode(output) : undefined, satoshis: String(amount) }
  })
}
