// Random histories of the Bridge in a search against a reference node: federations change and migrate while Bitcoin is paid,
// registered, requested, signed and released, in sensible and in other orders, by transactions and by contracts.
import { pubECDSA } from '@scure/btc-signer/utils'
import { decodeRlp } from 'ethers'
import {
  BitcoinChain,
  decoded,
  displayed,
  federationSignatures,
  outpoint,
  parsed,
  proofOf,
  pushesOf,
  reservedValue,
  scriptOf,
} from './bitcoin-chain.mjs'
import { BitcoinPayments, flyoverRedeemScript, outputScriptOf } from './bitcoin-payments.mjs'
import { bridgeAddress, callOf, commitTopic, releasedTransaction, releaseTopic, resultOf } from './bridge-abi.mjs'
import { BridgeSession, damaged } from './bridge-session.mjs'
import { viewCalls } from './bridge-views.mjs'
import { members, users } from './federation-keys.mjs'
import { capVote, federationVotes, feeVote, unionAddressVote, unionCall, whitelistVote } from './federation-votes.mjs'

/** Bitcoin blocks that make a transaction certain on regtest. */
const confirmations = 3
const weiPerSatoshi = 10n ** 10n
/** Ages of federations at which the rules of regtest change. */
const ages = [10, 25, 125, 150, 160, 165, 300]
/** Most blocks without transactions at once. */
const idleLimit = 160
/** Around the limits of peg-outs, satoshis. */
const requests = [
  0n,
  249_999n,
  250_000n,
  250_001n,
  499_999n,
  500_000n,
  500_001n,
  1_000_000n,
  3_000_000n,
  20_000_000n,
  100_000_000n,
  900_000_000n,
]

export class FederationHistory {
  #random
  #session
  #chain = new BitcoinChain()
  #payments
  #steps
  /** Bitcoin transactions for the next block. */
  #waiting = []
  /** Transactions in Bitcoin blocks: `{ transaction, block, index, tries }`. */
  #mined = []
  /** Redeem scripts by the hex of their output script. */
  #redeemScripts = new Map()
  /** Flyover payments: `{ terms, transaction }`. */
  #agreements = []
  /** Heights of the last commits. */
  #commits = []
  #state = { active: { members: members.slice(0, 3) }, height: 0 }

  /** `node` is that of a session. */
  constructor(random, node) {
    this.#random = random
    this.#session = new BridgeSession(random, node)
    this.#payments = new BitcoinPayments(random)
    const weighted = [
      [10, () => this.#mineBitcoin()],
      [10, () => this.#register()],
      [10, () => this.#update()],
      [10, () => this.#sign()],
      [8, () => this.#vote(...federationVotes(random, this.#state))],
      [7, () => this.#pay()],
      [5, () => this.#request()],
      [3, () => this.#flyover()],
      [2, () => this.#registerCoinbase()],
      [2, () => this.#vote(feeVote(random))],
      [1, () => this.#vote(capVote(random, this.#state.cap))],
      [2, () => this.#vote(whitelistVote(random, this.#payments.user().address))],
      [3, () => this.#union()],
      [2, () => this.#spend()],
      [2, () => this.#session.repeat()],
      [4, () => this.#idle()],
    ]
    this.#steps = weighted.flatMap(([weight, step]) => Array.from({ length: weight }, () => step))
  }

  /** Sends transactions of some steps in each round, and mines them. */
  async run(rounds) {
    await this.#session.start()
    const isCalm = !this.#random.isOne(3)
    // From the height 350 on, the Bridge finds its transactions by an index.
    const height = isCalm ? this.#random.pick([12, 360, 360]) : this.#random.pick([3, 340, 360])
    for (let count = 0; count < height; count++) this.#chain.mine([])
    await this.#sendHeaders(500)
    await this.#mine()
    if (isCalm) await this.#fund()
    for (let round = 0; round < rounds; round++) {
      await this.#look()
      if (isCalm) await this.#advance()
      for (let count = 1 + this.#random.below(isCalm ? 3 : 6); count > 0; count--)
        await this.#random.pick(this.#steps)()
      await this.#mine()
    }
  }

  /** Pays coins to the first federation. */
  async #fund() {
    await this.#look()
    for (let count = 0; count < 4; count++)
      this.#waiting.push(this.#payments.plainPegIn(this.#state.active.script, 2, 300_000_000))
  }

  /** Lets everything that waits take its next step. */
  async #advance() {
    if (this.#waiting.length > 0 || this.#random.isOne(3)) await this.#mineBitcoin()
    for (let count = Math.min(4, this.#unregistered().length); count > 0; count--) await this.#register()
    await this.#update()
    await this.#sign()
  }

  /** Reads what the next steps depend on. */
  async #look() {
    const names = [
      'getFederationAddress',
      'getRetiringFederationAddress',
      'getProposedFederationAddress',
      'getActivePowpegRedeemScript',
      'getBtcBlockchainBestChainHeight',
      'getFederationCreationBlockNumber',
      'getProposedFederationCreationBlockNumber',
      'getNextPegoutCreationBlockNumber',
      'getPendingFederationSize',
      'getPendingFederationHash',
      'getLockingCap',
      'getStateForBtcReleaseClient',
      'getStateForSvpClient',
    ]
    const probes = [callOf('getFederatorPublicKeyOfType', [0, 'btc']), callOf('getBtcBlockchainInitialBlockHeight')]
    const answers = await this.#session.view([...names.map((name) => callOf(name)), ...probes])
    const view = Object.fromEntries(names.map((name, index) => [name, resultOf(name, answers[index])]))
    const [multikeyAnswer, contractAnswer] = answers.slice(-2)
    this.#session.canUseContracts = contractAnswer !== '0x'
    if (view.getActivePowpegRedeemScript !== undefined) this.#learn(bytesOf(view.getActivePowpegRedeemScript))
    const retiring = await this.#federation('retiring', view.getRetiringFederationAddress, 'Retiring')
    const proposed = await this.#federation('proposed', view.getProposedFederationAddress, 'Proposed')
    this.#state = {
      active: await this.#federation('active', view.getFederationAddress, ''),
      retiring,
      proposed,
      isChanging: (retiring ?? proposed) !== undefined,
      height: Number(view.getBtcBlockchainBestChainHeight),
      creation: Number(view.getFederationCreationBlockNumber),
      proposal: Number(view.getProposedFederationCreationBlockNumber ?? -1),
      nextBatch: Number(view.getNextPegoutCreationBlockNumber ?? 0),
      pendingSize: Number(view.getPendingFederationSize ?? -1),
      pendingHash: view.getPendingFederationHash,
      cap: view.getLockingCap ?? 100_000_000_000n,
      unsigned: [view.getStateForBtcReleaseClient, view.getStateForSvpClient],
      isMultikey: multikeyAnswer !== '0x',
    }
  }

  /** Returns the federation in a role. Its members are read once. */
  async #federation(role, address, prefix) {
    if (address === undefined || address === '') return undefined
    if (this.#state[role]?.address === address) return this.#state[role]
    const indexes = Array.from(members.keys())
    const calls = indexes.map((index) => callOf(`get${prefix}FederatorPublicKeyOfType`, [index, 'btc']))
    const isOld = prefix !== 'Proposed'
    const oldCalls = isOld ? indexes.map((index) => callOf(`get${prefix}FederatorPublicKey`, [index])) : []
    const keys = (await this.#session.view([...calls, ...oldCalls])).map((answer) => answer?.slice(130, 196))
    const named = members.filter(({ publicKey }) => keys.includes(publicKey.toString('hex')))
    return { address, script: scriptOf(address), members: named }
  }

  async #mine(views = this.#views()) {
    for (const log of await this.#session.mine(views)) {
      if (log.topics[0] === releaseTopic) this.#waiting.push(parsed(releasedTransaction(log)))
      if (log.topics[0] === commitTopic) this.#commits = [...this.#commits.slice(-1), this.#session.number]
    }
  }

  #views() {
    const block = this.#random.pick(this.#chain.branch(30))
    const mined = this.#mined.length > 0 ? this.#random.pick(this.#mined.slice(-20)) : undefined
    return viewCalls(this.#random, { block, mined, address: this.#payments.user().address })
  }

  /** Mines Bitcoin blocks with the waiting transactions, rarely on another branch, and sends headers. */
  async #mineBitcoin() {
    const random = this.#random
    let parent = this.#chain.tip
    const depth = random.isOne(10) ? 1 + random.below(4) : 0
    for (let step = 0; step < depth && parent.parent?.parent !== undefined; step++) parent = parent.parent
    for (let count = depth > 0 ? 1 + random.below(6) : random.pick([1, 3, 4, 4, 5]); count > 0; count--) {
      const transactions = this.#waiting.splice(0)
      const block = this.#chain.mine(transactions, parent)
      for (const [index, transaction] of transactions.entries()) {
        this.#mined.push({ transaction, block, index: index + 1, tries: 0 })
      }
      parent = block
    }
    await this.#sendHeaders(this.#chain.tip.height - this.#state.height + random.below(3), parent)
  }

  /** Sends the last `count` headers of a branch. */
  async #sendHeaders(count, block = this.#chain.tip) {
    const random = this.#random
    const headers = this.#chain.branch(Math.max(1, count), block).map(({ header }) => header)
    if (random.isOne(12)) headers.reverse()
    if (random.isOne(12)) headers.push(damaged(random, random.pick(headers)))
    if (random.isOne(6)) {
      await this.#session.increaseTime(random.pick([100, 299, 300, 301]))
      await this.#session.call(this.#session.anyone(), 'receiveHeader', [headers[0]])
      headers.shift()
    }
    await this.#session.call(this.#federatorOrAnyone(), 'receiveHeaders', [headers])
  }

  /** Registers a transaction of a Bitcoin block, mostly a new one with enough confirmations. */
  async #register() {
    const random = this.#random
    if (this.#mined.length === 0) return
    const open = this.#unregistered()
    const chosen = random.pick(open.length === 0 || random.isOne(10) ? this.#mined : open)
    chosen.tries++
    const { transaction, block, index } = chosen
    const hasWitness = !transaction.id.equals(transaction.witnessId)
    const isWhole = hasWitness && !random.isOne(8)
    if (isWhole) await this.#registerCoinbase(block)
    const height = random.isOne(20) ? block.height + random.pick([-1, 1, -1000, 2 ** 31]) : block.height
    const leaves = isWhole === random.isOne(25) ? block.ids : block.witnessIds
    const proof = proofOf(leaves, random.isOne(25) ? random.below(leaves.length) : index)
    const raw = isWhole ? transaction.raw : transaction.plain
    await this.#session.call(this.#federatorOrAnyone(), 'registerBtcTransaction', [raw, height, proof])
  }

  #unregistered() {
    const certain = this.#state.height - confirmations + 1
    const isOpen = ({ transaction, tries, block }) => tries < 2 && block.height <= certain && !transaction.isFlyover
    return this.#mined.filter(isOpen)
  }

  async #registerCoinbase(block = this.#random.pick(this.#chain.branch(20))) {
    const random = this.#random
    const [coinbase] = block.transactions
    const root = Buffer.from(block.witnessRoot).reverse()
    const values = [coinbase.raw, `0x${displayed(block.hash)}`, proofOf(block.ids, 0), root, reservedValue]
    if (random.isOne(20)) values[1 + random.below(4)] = Buffer.from(random.bytes(32))
    await this.#session.call(this.#session.anyone(), 'registerBtcCoinbaseTransaction', values)
  }

  async #update() {
    await this.#session.call(this.#federatorOrAnyone(), 'updateCollections')
  }

  /** Signs transactions of the Bridge. */
  async #sign() {
    for (const state of this.#state.unsigned) {
      if (state === undefined) continue
      const [entries] = decodeRlp(state)
      // Transactions with inputs of two federations never leave this list.
      for (let at = 0; at < entries.length; at += 2) {
        if (at < 8 || this.#random.isOne(4)) await this.#signOne(entries[at], bytesOf(entries[at + 1]))
      }
    }
  }

  async #signOne(hash, raw) {
    const random = this.#random
    const { inputs, witnesses } = decoded(raw)
    const scripts = inputs.map(({ finalScriptSig }, index) =>
      Buffer.from(witnesses[index]?.at(-1) ?? pushesOf(finalScriptSig).at(-1)),
    )
    for (const script of scripts) this.#learn(script)
    const signers = members.filter(({ publicKey }) => scripts.some((script) => script.includes(publicKey)))
    if (random.isOne(2)) signers.reverse()
    // As many as needed, or any number.
    signers.splice(random.isOne(3) ? 1 + random.below(signers.length) : Math.floor(signers.length / 2) + 1)
    for (const signer of signers) {
      const { bitcoin } = random.isOne(25) ? random.pick(members) : signer
      let signatures = federationSignatures(raw, bitcoin, (input) => this.#amountOf(input))
      if (random.isOne(30)) signatures.pop()
      if (random.isOne(30)) signatures.reverse()
      if (random.isOne(30)) signatures = signatures.map((signature) => damaged(random, signature))
      const publicKey = random.isOne(30) ? pubECDSA(signer.bitcoin, false) : signer.publicKey
      const sender = random.isOne(15) ? this.#session.anyone() : signer.rsk
      await this.#session.call(sender, 'addSignature', [publicKey, signatures, hash])
    }
  }

  #amountOf({ txid, index }) {
    return this.#chain.outputs.get(outpoint(Buffer.from(txid).toString('hex'), index))?.amount ?? 0n
  }

  async #vote(...votes) {
    for (const { key, method, values } of votes) {
      await this.#session.call(key ?? this.#session.anyone(), method, values)
    }
  }

  /** Pays Bitcoin to federations. */
  async #pay() {
    const random = this.#random
    const scripts = this.#scripts()
    for (let count = random.pick([1, 1, 2, 4]); count > 0; count--) {
      const plain = () => {
        const satoshis = random.isOne(6) ? 500_000 : undefined
        return this.#payments.plainPegIn(random.pick(scripts.slice(0, 2)), random.pick([1, 1, 1, 1, 30, 90]), satoshis)
      }
      this.#waiting.push(random.isOne(2) ? plain() : this.#payments.pegIn(scripts, this.#receivers()))
    }
  }

  /** Returns output scripts of federations, those of live ones first. */
  #scripts() {
    const { active, retiring, proposed } = this.#state
    const live = [active, retiring, proposed].filter((federation) => federation !== undefined)
    const known = [...this.#redeemScripts.keys()].map((script) => Buffer.from(script, 'hex'))
    return [...live.map(({ script }) => script), ...known]
  }

  #receivers() {
    const accounts = users.map((key) => this.#session.addressOf(key))
    return [...accounts, ...this.#session.contracts, bridgeAddress]
  }

  /** Requests peg-outs. */
  async #request() {
    const random = this.#random
    for (let count = random.pick([1, 1, 2, 8]); count > 0; count--) {
      const value = random.pick(requests) * weiPerSatoshi + BigInt(random.pick([0, 0, 1, 9_999_999_999]))
      const data = random.isOne(3) ? callOf('releaseBtc') : '0x'
      const to = random.isOne(12) ? this.#session.contract() : bridgeAddress
      await this.#session.send(random.pick(users), {
        to,
        value,
        data,
        gas: random.pick([44_000, 46_008, 100_000, 300_000]),
      })
    }
  }

  /** Makes a flyover agreement and pays to it, or registers an earlier one. */
  async #flyover() {
    const random = this.#random
    const isIn = (transaction) => this.#mined.find((mined) => mined.transaction === transaction)
    const paid = this.#agreements.filter(({ transaction }) => isIn(transaction) !== undefined)
    if (paid.length === 0 || random.isOne(2)) return this.#agree()
    const { terms, transaction } = random.pick(paid)
    const { block, index } = isIn(transaction)
    const { argumentsHash, userRefund, contract, providerAddress } = terms
    const agreement = [argumentsHash, userRefund, contract, providerAddress, random.isOne(2)]
    const proven = [transaction.plain, block.height, proofOf(block.ids, index)]
    const data = this.#session.remember(callOf('registerFastBridgeBtcTransaction', [...proven, ...agreement]))
    const isDirect = random.isOne(8) || !this.#session.canUseContracts
    const gas = random.pick([100_000, 300_000, 1_000_000])
    await this.#session.send(random.pick(users), { to: isDirect ? bridgeAddress : contract, data, gas })
  }

  /** Pays to a flyover agreement with one or two federations, mostly live ones. */
  #agree() {
    const random = this.#random
    const known = [...this.#redeemScripts.entries()]
    if (known.length === 0) return
    const live = this.#scripts()
      .slice(0, 2)
      .map((script) => script.toString('hex'))
    const usable = known.filter(([script]) => live.includes(script))
    const terms = {
      argumentsHash: Buffer.from(random.bytes(32)),
      userRefund: this.#payments.addressBytes(),
      providerAddress: this.#payments.addressBytes(),
      contract: random.pick(this.#session.contracts),
    }
    const scripts = Array.from({ length: random.pick([1, 1, 2]) }, () => {
      const [script, redeemScript] = random.pick(usable.length === 0 || random.isOne(8) ? known : usable)
      return outputScriptOf(flyoverRedeemScript(redeemScript, terms), isLegacy(script, redeemScript))
    })
    const transaction = random.isOne(3)
      ? this.#payments.pegIn(scripts, this.#receivers())
      : this.#payments.plainPegIn(scripts[0], 1 + random.below(2))
    transaction.isFlyover = true
    this.#agreements.push({ terms, transaction })
    this.#waiting.push(transaction)
  }

  /** Calls the union bridge, which is one of the contracts. */
  async #union() {
    const random = this.#random
    const contract = random.pick(this.#session.contracts.slice(0, 2))
    if (random.isOne(4)) {
      const other = this.#session.addressOf(this.#session.anyone())
      return this.#vote(unionAddressVote(random, random.isOne(4) ? other : contract))
    }
    const { method, values, value } = unionCall(random)
    const data = this.#session.remember(callOf(method, values))
    const to = random.isOne(4) || !this.#session.canUseContracts ? bridgeAddress : contract
    await this.#session.send(random.pick(users), { to, data, value, gas: random.pick([100_000, 300_000]) })
  }

  /** Spends coins of a federation by a transaction that the Bridge did not make. */
  async #spend() {
    const random = this.#random
    const coins = []
    for (const [point, { script }] of this.#chain.outputs) {
      const redeemScript = this.#redeemScripts.get(Buffer.from(script).toString('hex'))
      if (redeemScript === undefined) continue
      const [txid, index] = point.split(':')
      const isOld = isLegacy(script, redeemScript)
      coins.push({ txid: Buffer.from(txid, 'hex'), index: Number(index), script: redeemScript, isLegacy: isOld })
    }
    if (coins.length === 0) return
    const chosen = Array.from({ length: 1 + random.below(2) }, () => random.pick(coins))
    const keys = members.map(({ bitcoin }) => bitcoin)
    this.#waiting.push(this.#payments.spend(chosen, keys, this.#scripts(), (input) => this.#amountOf(input)))
  }

  /** Mines empty blocks, mostly up to one in which an age or a height is nearly reached. */
  async #idle() {
    const random = this.#random
    const { creation, proposal, nextBatch } = this.#state
    // The validation of a proposed federation needs several blocks with transactions.
    if (proposal > 0 && !random.isOne(6)) return
    const starts = [creation, ...(proposal > 0 ? [proposal] : []), ...this.#commits]
    const heights = [nextBatch, ...starts.flatMap((start) => ages.map((age) => start + age))]
    const { number } = this.#session
    const next = heights.filter((height) => height > number + 2).sort((a, b) => a - b)
    const isShort = random.isOne(3) || next.length === 0
    const target = isShort
      ? number + random.below(8)
      : next[random.below(Math.min(2, next.length))] - 1 - random.below(3)
    if (target - number > idleLimit) return
    if (target > number + 1) await this.#session.mineEmpty(target - number - 1)
    await this.#mine()
    await this.#update()
  }

  /** Returns the key of a member of a live federation, rarely of another sender. */
  #federatorOrAnyone() {
    const random = this.#random
    if (random.isOne(8)) return this.#session.anyone()
    const { active, retiring } = this.#state
    const live = [...active.members, ...(retiring === undefined || random.isOne(2) ? [] : retiring.members)]
    return random.pick(live.length === 0 ? members : live).rsk
  }

  #learn(redeemScript) {
    for (const isOld of [true, false]) {
      this.#redeemScripts.set(outputScriptOf(redeemScript, isOld).toString('hex'), redeemScript)
    }
  }
}

/** Returns true if an output script, or its hex, is that of a redeem script without witness. */
function isLegacy(script, redeemScript) {
  return outputScriptOf(redeemScript, true).equals(Buffer.from(script, 'hex'))
}

function bytesOf(hex) {
  return Buffer.from(hex.slice(2), 'hex')
}
