// Random Bitcoin transactions that pay to federations and spend their outputs, for a search against a reference node.
import { p2pkh, Script, TEST_NETWORK } from '@scure/btc-signer'
import { hash160, pubECDSA, sha256, signECDSA } from '@scure/btc-signer/utils'
import { getBytes, keccak256 } from 'ethers'
import { decoded, scriptOf, signatureHash, transactionOf } from './bitcoin-chain.mjs'
import { keyOf } from './federation-keys.mjs'

const users = ['bitcoin user 1', 'bitcoin user 2', 'bitcoin user 3'].map(keyOf)
/** Keys of the emergency branch of all federations, which can spend after 500 blocks. */
const emergencyKeys = ['erp-fed-01', 'erp-fed-02', 'erp-fed-03', 'erp-fed-04', 'erp-fed-05'].map(keyOf)
const emergencyDelay = 500
const oldFederation = scriptOf('2N7ZgQyhFKm17RbaLqygYbS7KLrQfapyZzu')
const oldFederationKeys = [
  '47129ffed2c0273c75d21bb8ba020073bb9a1638df0e04853407461fdd9e8b83',
  '9f72d27ba603cfab5a0201974a6783ca2476ec3d6b4e2625282c682e0e5f1c35',
  'e1b17fcd0ef1942465eee61b20561b16750191143d365e71de08b33dd84a9788',
].map((key) => Buffer.from(key, 'hex'))
/** Around the limits of peg-ins and of dust. */
const amounts = [
  0, 1, 546, 2699, 2700, 2730, 249_999, 250_000, 499_999, 500_000, 500_001, 999_999, 1_000_000, 1_000_001, 2_500_000,
  5_000_000, 10_000_000, 10_000_000, 100_000_000, 100_000_000, 100_000_000, 700_000_000, 3_000_000_000, 40_000_000_000,
]

export class BitcoinPayments {
  #random

  constructor(random) {
    this.#random = random
  }

  /** Returns key, public key, output script and address of a user. */
  user() {
    const key = this.#random.pick(users)
    const publicKey = Buffer.from(pubECDSA(key))
    const { script, address } = p2pkh(publicKey, TEST_NETWORK)
    return { key, publicKey, script: Buffer.from(script), address }
  }

  /** Returns a Bitcoin address as the flyover method takes it. */
  addressBytes() {
    const random = this.#random
    const length = random.isOne(12) ? random.pick([0, 1, 20, 22]) : 21
    const bytes = Buffer.alloc(length)
    if (length > 0) bytes[0] = random.isOne(12) ? random.below(256) : random.pick([111, 111, 196])
    if (length >= 21) Buffer.from(hash160(this.user().publicKey)).copy(bytes, 1)
    return bytes
  }

  /** Returns a plain payment of a user that the Bridge accepts under all rules. */
  plainPegIn(script, count = 1, satoshis = undefined) {
    const { publicKey } = this.user()
    const inputs = [this.#input(Script.encode([this.#signature(), publicKey]))]
    const outputs = Array.from({ length: count }, () => ({
      script,
      amount: BigInt(satoshis ?? this.#random.pick([500_000, 1_000_000, 1_500_000, 50_000_000, 2_000_000_000])),
    }))
    return transactionOf({ inputs, outputs })
  }

  /** Returns a random payment. `scripts` are output scripts of federations, those of live ones first. */
  pegIn(scripts, receivers) {
    const random = this.#random
    const senders = Array.from({ length: random.pick([1, 1, 1, 2]) }, () => this.#sender())
    const outputs = []
    for (let count = random.pick([1, 1, 1, 2, 2, 3]); count > 0; count--) {
      const script = random.isOne(3) ? random.pick(scripts) : scripts[0]
      outputs.push({ script, amount: BigInt(random.pick(amounts)) })
    }
    if (random.isOne(4)) outputs.push({ script: this.user().script, amount: 1000n })
    if (random.isOne(12)) outputs.push({ script: this.#oddScript(), amount: BigInt(random.pick(amounts)) })
    for (let count = random.pick([0, 0, 1, 1, 1, 1, 2]); count > 0; count--) {
      outputs.splice(random.below(outputs.length + 1), 0, { script: this.#instructions(receivers), amount: 0n })
    }
    return transactionOf({
      version: random.pick([1, 2]),
      inputs: senders.map(({ input }) => input),
      outputs,
      witnesses: senders.some(({ witness }) => witness.length > 0) ? senders.map(({ witness }) => witness) : [],
    })
  }

  /** Returns a spend of coins that the federation of `keys`, the emergency keys or the old federation sign. */
  spend(coins, keys, scripts, amountOf) {
    const random = this.#random
    const outputs = Array.from({ length: 1 + random.below(3) }, () => ({
      script: random.isOne(4) ? this.user().script : random.pick(scripts),
      amount: BigInt(random.pick(amounts)),
    }))
    if (random.isOne(6)) {
      const keysInOrder = oldFederationKeys
        .map((key) => [Buffer.from(pubECDSA(key)), key])
        .sort(([a], [b]) => a.compare(b))
      const script = Buffer.from(Script.encode([2, ...keysInOrder.map(([publicKey]) => publicKey), 3, 'CHECKMULTISIG']))
      const [a, b] = keysInOrder.map(([, key]) => key)
      return this.#signed([{ ...this.#input(Buffer.alloc(0)), script, isLegacy: true }], [a, b], outputs, amountOf)
    }
    const isEmergency = random.isOne(4)
    const inputs = coins.map(({ script, txid, index, isLegacy }) => ({
      txid,
      index,
      finalScriptSig: Buffer.alloc(0),
      sequence: isEmergency ? random.pick([emergencyDelay, 0, 0xffffffff]) : 0xffffffff,
      script,
      isLegacy,
    }))
    return this.#signed(inputs, isEmergency ? emergencyKeys : keys, outputs, amountOf, isEmergency)
  }

  /** Signs inputs that have `script`, their redeem script, with the keys that it names. */
  #signed(inputs, keys, outputs, amountOf, isEmergency = false) {
    const random = this.#random
    const place = (input, signatures) => {
      const isBranched = input.script.includes(Buffer.from('b275', 'hex'))
      const branch = isBranched ? [isEmergency ? Buffer.from([1]) : Buffer.alloc(0)] : []
      const stack = [Buffer.alloc(0), ...signatures, ...branch, input.script]
      if (input.isLegacy) {
        return { finalScriptSig: Script.encode(stack.map((item) => (item.length === 0 ? 0 : item))), witness: [] }
      }
      const program = Buffer.from([0x22, 0, 0x20, ...sha256(input.script)])
      return { finalScriptSig: program, witness: stack }
    }
    const bare = inputs.map(({ script: _script, isLegacy: _isLegacy, ...input }) => input)
    const encoded = (placed) =>
      transactionOf({
        inputs: bare.map((input, index) => ({ ...input, finalScriptSig: placed[index].finalScriptSig })),
        outputs,
        witnesses: placed.some(({ witness }) => witness.length > 0) ? placed.map(({ witness }) => witness) : [],
      })
    const unsigned = decoded(encoded(inputs.map((input) => place(input, []))).raw)
    return encoded(
      inputs.map((input, index) => {
        const named = keysIn(input.script, keys, isEmergency)
        const needed = isEmergency ? 3 : (input.script.find((byte) => byte > 0x50 && byte < 0x61) ?? 0x52) - 0x50
        const hash = signatureHash(unsigned, index, amountOf)
        const signatures = named.slice(0, needed).map((key) => Buffer.from([...signECDSA(hash, key), 1]))
        if (random.isOne(8) && signatures.length > 0) signatures.pop()
        return place(input, signatures)
      }),
    )
  }

  #input(finalScriptSig) {
    return {
      txid: Buffer.from(this.#random.bytes(32)),
      index: this.#random.below(3),
      finalScriptSig,
      sequence: 0xffffffff,
    }
  }

  #sender() {
    const random = this.#random
    const { key, publicKey } = this.user()
    const form = random.pick([
      'key',
      'key',
      'key',
      'long key',
      'multisig',
      'wrapped key',
      'wrapped key',
      'wrapped script',
      'witness key',
      ...(random.isOne(2) ? ['odd'] : []),
    ])
    const withScript = (items, witness = []) => ({ input: this.#input(Script.encode(items)), witness })
    switch (form) {
      case 'key':
        return withScript([this.#signature(), publicKey])
      case 'long key':
        return withScript([this.#signature(), pubECDSA(key, false)])
      case 'multisig':
        return withScript([0, this.#signature(), this.#signature(), this.#multisig()])
      case 'wrapped key':
        return withScript(
          [Buffer.from([0, 20, ...hash160(publicKey)])],
          [this.#signature(), random.isOne(6) ? Buffer.from(pubECDSA(key, false)) : publicKey],
        )
      case 'wrapped script': {
        const script = this.#multisig()
        return withScript(
          [Buffer.from([0, 32, ...sha256(script)])],
          [Buffer.alloc(0), this.#signature(), this.#signature(), script],
        )
      }
      case 'witness key':
        return withScript([], [this.#signature(), publicKey])
      default:
        return {
          input: this.#input(Buffer.from(random.bytes(random.below(40)))),
          witness: random.isOne(2) ? [] : [Buffer.from(random.bytes(random.below(40)))],
        }
    }
  }

  #multisig() {
    const keys = users.map((key) => Buffer.from(pubECDSA(key))).sort((a, b) => a.compare(b))
    return Buffer.from(Script.encode([2, ...keys, 3, 'CHECKMULTISIG']))
  }

  #signature() {
    const bytes = Buffer.from(this.#random.bytes(71))
    bytes.set([0x30, 68, 2, 32], 0)
    return bytes
  }

  #instructions(receivers) {
    const random = this.#random
    const receiver = Buffer.from(random.pick(receivers).slice(2), 'hex')
    const version = random.isOne(10) ? random.below(4) : 1
    const refund = random.pick([
      [],
      [],
      [1, ...hash160(this.user().publicKey)],
      [2, ...random.bytes(20)],
      [random.below(5), ...random.bytes(20)],
    ])
    const data = Buffer.from([...Buffer.from('RSKT'), version, ...receiver, ...refund])
    const length = random.isOne(12) ? random.below(data.length + 1) : data.length
    if (random.isOne(12)) return Buffer.from(Script.encode(['RETURN', Buffer.from(random.bytes(1 + random.below(60)))]))
    return length === 0 ? Buffer.from([0x6a]) : Buffer.from(Script.encode(['RETURN', data.subarray(0, length)]))
  }

  #oddScript() {
    const random = this.#random
    const { publicKey } = this.user()
    return random.pick([
      Buffer.from(Script.encode([publicKey, 'CHECKSIG'])),
      Buffer.from(Script.encode([0, hash160(publicKey)])),
      Buffer.from(Script.encode([0, sha256(publicKey)])),
      Buffer.from([0x51, 0x20, ...sha256(publicKey)]),
      oldFederation,
      Buffer.from([0x6a]),
      Buffer.from([0x76, 0xa9, 0x88, 0x88, 0xac]),
      Buffer.from([0x4c]),
      Buffer.alloc(0),
      Buffer.from(random.bytes(random.below(30))),
    ])
  }
}

/** Returns the script of the flyover agreement of a federation, as it is hashed. */
export function flyoverRedeemScript(redeemScript, { argumentsHash, userRefund, contract, providerAddress }) {
  const derivation = getBytes(
    keccak256(Buffer.concat([argumentsHash, userRefund, Buffer.from(contract.slice(2), 'hex'), providerAddress])),
  )
  return Buffer.concat([Buffer.from([0x20, ...derivation, 0x75]), redeemScript])
}

/** Returns the output script of a redeem script: P2SH, or P2SH of a witness program. */
export function outputScriptOf(redeemScript, isLegacy) {
  const script = isLegacy ? redeemScript : Buffer.from([0, 0x20, ...sha256(redeemScript)])
  return Buffer.from(Script.encode(['HASH160', hash160(script), 'EQUAL']))
}

/** Returns the keys that a script names, in its order. Emergency keys are behind those of the members. */
function keysIn(script, keys, isEmergency) {
  const start = isEmergency ? script.indexOf(Buffer.from('b275', 'hex')) : 0
  return keys
    .map((key) => [script.indexOf(Buffer.from(pubECDSA(key)), Math.max(0, start)), key])
    .filter(([at]) => at >= 0)
    .sort(([a], [b]) => a - b)
    .map(([, key]) => key)
}
