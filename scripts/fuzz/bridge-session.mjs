// Senders of transactions to the Bridge of a reference node, and its blocks.
import { getCreateAddress, Wallet } from 'ethers'
import { callsLike } from './bridge.mjs'
import { bridgeAddress, callOf } from './bridge-abi.mjs'
import { poorSenders, users } from './federation-keys.mjs'
import { forwarders } from './forwarders.mjs'

const chainId = 33
const keptCalls = 200

export class BridgeSession {
  /** Number of the last block. */
  number = 0
  /** Contracts that call the Bridge. Before RSKIP-88 the reference cannot mine such calls. */
  contracts = []
  canUseContracts = false
  #random
  #node
  #wallets = new Map()
  #nonces = new Map()
  /** Signed transactions for the next block. */
  #sent = []
  /** Data of the last calls. */
  #calls = []
  /** Requests about the last block, besides those of its views. */
  #compared = []

  /**
   * `node`: `ask` sends requests to the reference, `compare` also to the other node later, `mined` reports a block and returns
   * its logs.
   */
  constructor(random, node) {
    this.#random = random
    this.#node = node
  }

  /** Deploys contracts and gives the other senders funds. */
  async start() {
    const [{ result }] = await this.#node.ask([['eth_blockNumber', []]])
    this.number = Number(result)
    // With its fixed clock the reference begins at time 0, and cannot read federations of that time.
    await this.increaseTime(1000)
    const [deployer, ...givers] = users
    for (const data of forwarders) {
      const from = this.addressOf(deployer)
      this.contracts.push(getCreateAddress({ from, nonce: await this.#nonceOf(from) }))
      await this.send(deployer, { data, gas: 1_000_000 })
    }
    for (const [index, key] of poorSenders.entries()) {
      // The reference takes at most 16 waiting transactions of a sender.
      const giver = givers[index % givers.length]
      await this.send(giver, { to: this.addressOf(key), value: 10n ** 18n, gas: 21_000 })
    }
    await this.mine()
  }

  /** Returns the results of calls of the Bridge. */
  async view(calls) {
    const answers = await this.#node.ask(calls.map((data) => ['eth_call', [{ to: bridgeAddress, data }, 'latest']]))
    return answers.map(({ result }) => result)
  }

  async increaseTime(seconds) {
    await this.#node.ask([['evm_increaseTime', [seconds]]])
  }

  /** Calls a method of the Bridge in the next block, rarely with changed data or by a contract. */
  async call(key, method, values = []) {
    const random = this.#random
    let data = this.remember(callOf(method, values))
    if (random.isOne(40)) data = `0x${damaged(random, Buffer.from(data.slice(2), 'hex')).toString('hex')}`
    const value = random.isOne(50) ? 10n ** 16n : 0n
    const to = random.isOne(40) ? this.contract() : bridgeAddress
    const gas = random.isOne(12)
      ? random.pick([22_000, 30_000, 60_000, 90_000])
      : random.pick([300_000, 1_000_000, 2_000_000])
    if (random.isOne(6)) this.#compareCall({ from: this.addressOf(key), to, value: quantity(value), input: data })
    await this.send(key, { to, data, value, gas })
  }

  /** Repeats a call of any kind, mostly by a contract. */
  async repeat() {
    const random = this.#random
    if (this.#calls.length === 0) return
    const to = random.isOne(4) ? bridgeAddress : this.contract()
    const value = random.isOne(4) ? 10n ** 16n : 0n
    const gas = random.pick([60_000, 100_000, 300_000, 1_000_000])
    await this.send(this.anyone(), { to, data: random.pick(this.#calls), value, gas })
  }

  remember(data) {
    if (this.#calls.push(data) > keptCalls) this.#calls.shift()
    return data
  }

  /** Signs a transaction for the next block. */
  async send(key, { to, data = '0x', value = 0n, gas }) {
    const wallet = this.#wallet(key)
    const nonce = await this.#nonceOf(wallet.address)
    this.#nonces.set(wallet.address, nonce + 1)
    const gasPrice = this.#random.pick([0, 0, 1])
    const raw = await wallet.signTransaction({ type: 0, chainId, nonce, to, data, value, gasLimit: gas, gasPrice })
    this.#sent.push({ raw, address: wallet.address })
  }

  /** Mines a block and returns its logs of the Bridge. `views` are calls that are compared after it. */
  async mine(views = []) {
    const sent = this.#sent.splice(0)
    const answers = await this.#node.ask([
      ...sent.map(({ raw }) => ['eth_sendRawTransaction', [raw]]),
      ['evm_mine', []],
      ['eth_blockNumber', []],
    ])
    // A refused transaction leaves a gap of nonces.
    for (const [index, { address }] of sent.entries())
      if (answers[index].result === undefined) this.#nonces.delete(address)
    const height = Number(answers.at(-1).result)
    if (height === this.number) throw new Error(`the reference mines no block: ${JSON.stringify(answers.at(-2))}`)
    this.number = height
    const logs = await this.#node.mined(quantity(height))
    const calls = views.map((data) => ['eth_call', [{ to: bridgeAddress, data }, quantity(height)]])
    await this.#node.compare([...calls, ...this.#compared.splice(0)])
    return logs.filter(({ address }) => address === bridgeAddress)
  }

  /** Mines blocks that are not reported. */
  async mineEmpty(count) {
    const answers = await this.#node.ask([
      ...Array.from({ length: count }, () => ['evm_mine', []]),
      ['eth_blockNumber', []],
    ])
    this.number = Number(answers.at(-1).result)
  }

  contract() {
    return this.canUseContracts ? this.#random.pick(this.contracts) : bridgeAddress
  }

  anyone() {
    return this.#random.pick([...users, ...poorSenders])
  }

  addressOf(key) {
    return this.#wallet(key).address
  }

  /** Compares calls and estimates on the block before a transaction. */
  #compareCall(transaction) {
    const calls = callsLike(transaction, this.#random).filter(() => this.#random.isOne(2))
    for (const call of calls) {
      for (const method of ['eth_call', 'eth_estimateGas']) this.#compared.push([method, [call, quantity(this.number)]])
    }
  }

  async #nonceOf(address) {
    if (!this.#nonces.has(address)) {
      const [{ result }] = await this.#node.ask([['eth_getTransactionCount', [address, 'pending']]])
      this.#nonces.set(address, Number(result))
    }
    return this.#nonces.get(address)
  }

  #wallet(key) {
    const name = Buffer.from(key).toString('hex')
    if (!this.#wallets.has(name)) this.#wallets.set(name, new Wallet(`0x${name}`))
    return this.#wallets.get(name)
  }
}

/** Returns bytes with one changed bit. */
export function damaged(random, bytes) {
  const copy = Buffer.from(bytes)
  copy[random.below(copy.length)] ^= 1 << random.below(8)
  return copy
}

function quantity(number) {
  return `0x${number.toString(16)}`
}
