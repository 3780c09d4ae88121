// The Bridge in a search against a reference node: steps of a peg, calls whose estimates are compared, and transactions for
// the pools of both nodes.
import { id, Transaction, Wallet } from 'ethers'
import { damagedTransaction } from './mutants.mjs'

const bridgeAddress = '0x0000000000000000000000000000000001000006'
const receiver = '0x00000000000000000000000000000000000000aa'
const chainId = 33
/** Transactions of federators to the Bridge are free. */
const federators = ['federator1', 'federator2', 'federator3'].map(walletOf)
/** Accounts with funds on regtest. */
const users = ['cow', 'cow1', 'cow2'].map(walletOf)
/** Private keys of the accounts of a development node, by address. */
export const accountKeys = new Map(
  ['cow', ...Array.from({ length: 9 }, (_, index) => `cow${index + 1}`)]
    .map(walletOf)
    .map(({ address, privateKey }) => [address.toLowerCase(), privateKey]),
)
const updateCollections = '0x0c5a9990'
/** Besides it: getFeePerKb, registerBtcTransaction without arguments, no method, and a request of a peg-out. */
const inputs = [updateCollections, '0x724ec886', `0x43dc0656${'00'.repeat(96)}`, '0xdeadbeef', '0x']

/** Returns the steps of a peg on a node: each sends transactions to the Bridge and mines them. */
export function pegSteps(peg, accounts) {
  return [
    () => peg.pegIn(receiver, 200_000_000n),
    () => peg.flyoverPegIn(receiver, 100_000_000n),
    () => peg.pegOut(accounts[0], 50_000_000n),
    () => peg.pegOut(accounts[1], 1_000_000n),
    // Below the minimum: the Bridge returns the amount.
    () => peg.pegOut(accounts[2], 1_000n).catch(() => undefined),
    () => peg.confirmPegOuts(),
    () => peg.signPegOuts(),
  ]
}

/** Returns a transaction as calls of several senders, with damaged copies. */
export function callsLike({ from, to, value, input }, random) {
  const calls = [from, federators[0].address, users[0].address, receiver].map((sender) => ({ from: sender }))
  const whole = [...calls, {}].map((call) => ({ ...call, to, value, data: input }))
  const damaged = Array.from({ length: 3 }, () => {
    const data = Buffer.from(input.slice(2), 'hex')
    for (let count = random.below(4); count > 0 && data.length > 0; count--) {
      data[random.below(data.length)] = random.below(256)
    }
    const length = random.isOne(2) ? data.length : random.below(data.length + 1)
    return { ...random.pick(calls), to, value, data: `0x${data.subarray(0, length).toString('hex')}` }
  })
  const limited = { ...random.pick(whole), gas: `0x${random.below(200_000).toString(16)}` }
  return [...whole, ...damaged, limited]
}

/** Senders of transactions for the pools, with the nonces that come next. */
export class PoolSenders {
  #random
  #nonces = new Map()

  constructor(random) {
    this.#random = random
  }

  /** `nonceOf` returns the next nonce of an address. */
  async start(nonceOf) {
    for (const { address } of [...federators, ...users]) this.#nonces.set(address, await nonceOf(address))
  }

  /** Returns a signed transaction, mostly to the Bridge. A refused one leaves a gap of nonces. */
  async next(senders = [...federators, ...users]) {
    const random = this.#random
    const wallet = random.pick(senders)
    const nonce = this.#nonces.get(wallet.address)
    this.#nonces.set(wallet.address, nonce + 1)
    const data = random.pick(inputs)
    if (federators.includes(wallet)) {
      // A free call that fails costs its gas limit, and federators have no balance.
      const gasPrice = data === updateCollections ? random.below(5) : 0
      const gasLimit = random.pick([1, 10_000, 100_000])
      return wallet.signTransaction({ type: 0, chainId, nonce, to: bridgeAddress, gasPrice, gasLimit, data })
    }
    return wallet.signTransaction({
      type: 0,
      chainId,
      nonce,
      to: random.isOne(4) ? receiver : bridgeAddress,
      gasPrice: random.below(5),
      gasLimit: random.pick([30_000, 80_000, 300_000, 1_000_000]),
      value: random.pick([0n, 0n, 1n, 10n ** 16n]),
      data,
    })
  }

  /** Returns a transaction in a damaged encoding. Those of federators are free at any price, also above 256 bits. */
  async damaged() {
    const raw = await this.next(users)
    const { from } = Transaction.from(raw)
    const { privateKey } = users.find(({ address }) => address === from)
    const encoded = damagedTransaction(Buffer.from(raw.slice(2), 'hex'), privateKey, chainId, this.#random)
    return `0x${encoded.toString('hex')}`
  }
}

function walletOf(name) {
  return new Wallet(id(name))
}
