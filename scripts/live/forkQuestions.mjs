// Random questions and transactions for a fork and the node that it is a fork of.
import { Interface } from 'ethers'
import { bridge, childCode, header, probe, token, wallets } from './forkChain.mjs'

/** Methods of the Bridge that only read, with the encoded parameters of one call (docs/spec/bridge.md, 2.1). */
const getters = [
  'getFederationAddress()',
  'getFederationSize()',
  'getFederationThreshold()',
  'getFederationCreationTime()',
  'getFederationCreationBlockNumber()',
  'getActivePowpegRedeemScript()',
  'getBtcBlockchainBestChainHeight()',
  'getBtcBlockchainInitialBlockHeight()',
  'getBtcBlockchainBestBlockHeader()',
  'getStateForBtcReleaseClient()',
  'getStateForSvpClient()',
  'getStateForDebugging()',
  'getLockingCap()',
  'getFeePerKb()',
  'getMinimumLockTxValue()',
  'getQueuedPegoutsCount()',
  'getNextPegoutCreationBlockNumber()',
  'getEstimatedFeesForNextPegOutEvent()',
  'getActiveFederationCreationBlockHeight()',
  'getRetiringFederationAddress()',
  'getProposedFederationAddress()',
  'getLockWhitelistSize()',
  'getBtcTxHashProcessedHeight(string)',
  'isBtcTxHashAlreadyProcessed(string)',
  'getBtcBlockchainBlockHeaderByHeight(uint256)',
  'getBtcBlockchainParentBlockHeaderByHash(bytes32)',
  'getFederatorPublicKeyOfType(int256,string)',
  'getBtcBlockchainBlockHashAtDepth(int256)',
]
/** Runs a loop. */
const spend = probe.getFunction('spend').selector
const headerFields = [
  'getCoinbaseAddress(int256)',
  'getBlockHash(int256)',
  'getMergedMiningTags(int256)',
  'getMinimumGasPrice(int256)',
  'getGasLimit(int256)',
  'getGasUsed(int256)',
  'getDifficulty(int256)',
  'getBitcoinHeader(int256)',
  'getUncleCoinbaseAddress(int256,int256)',
]
const mostGas = '0x500000'
/** Blocks below that of the fork whose traces are asked for. */
const tracedBlocks = 40

/** Questions about the latest block, the same for the same seed and chain. */
export class Questions {
  #places
  #number
  #random
  /** Hash of the block, its transactions, and those of them that call no contract. */
  traced

  constructor(places, number, random) {
    this.#places = places
    this.#number = number
    this.#random = random
  }

  /** Returns method and parameters. */
  question() {
    const random = this.#random
    const kind = random.below(100)
    if (kind < 30) return ['eth_call', { ...this.#call(), gas: mostGas }, 'latest']
    if (kind < 50) return ['eth_estimateGas', this.#call()]
    if (kind < 65) return ['eth_call', { to: bridge, data: this.#getter() }, 'latest']
    if (kind < 85) return this.#trace()
    const account = random.pick([...this.#places.accounts, this.#places.probe, ...this.#places.tokens, random.hex(20)])
    return random.pick([
      ['eth_getBalance', account, 'latest'],
      ['eth_getTransactionCount', account, 'latest'],
      ['eth_getCode', account, 'latest'],
      ['eth_getStorageAt', random.pick([this.#places.probe, ...this.#places.tokens]), `0x${random.below(4)}`, 'latest'],
    ])
  }

  /** Returns a trace of the block that the fork begins at, or of one below it. */
  #trace() {
    const random = this.#random
    const { hash, transactions, plain } = this.traced
    const transaction = random.pick(transactions)
    const options = random.pick([
      { tracer: 'callTracer' },
      { tracer: 'callTracer', tracerConfig: { withLog: true } },
      { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } },
    ])
    const number = `0x${this.#number.toString(16)}`
    const older = `0x${(this.#number - random.below(tracedBlocks)).toString(16)}`
    const calls = { tracer: 'callTracer' }
    return random.pick([
      () => ['debug_traceTransaction', transaction, options],
      () => ['debug_traceTransaction', transaction, options],
      // Otherwise this tracer lists the storage of a contract, which no method reads.
      () => ['debug_traceTransaction', random.pick(plain), random.pick([{}, { disableMemory: 'true' }])],
      () => ['debug_traceBlockByHash', hash, calls],
      () => ['debug_traceBlockByNumber', older, calls],
      () => ['trace_transaction', transaction],
      () => ['trace_transaction', transaction],
      () => ['trace_get', transaction, [`0x${random.below(6).toString(16)}`]],
      () => ['trace_block', random.pick([number, hash, older])],
      () => ['trace_filter', { fromBlock: number, toBlock: number, fromAddress: [random.pick(wallets).address] }],
      () => [
        'trace_filter',
        { fromBlock: older, toBlock: number, after: random.below(20), count: random.below(20) + 1 },
      ],
    ])()
  }

  /** Returns sender and fields of a transaction whose trace is short. */
  shortTransaction() {
    let transaction = this.transaction()
    while (transaction.data?.startsWith(spend)) transaction = this.transaction()
    return transaction
  }

  /** Returns sender and fields of a transaction. */
  transaction() {
    const random = this.#random
    const wallet = random.pick(wallets)
    const kind = random.below(10)
    if (kind === 0) return { wallet, to: random.pick([...this.#places.accounts, random.hex(20)]), value: 7n }
    if (kind === 1) return { wallet, data: childCode }
    // A peg-out request, large enough or too small.
    if (kind === 2) return { wallet, to: bridge, value: random.pick([6_000_000n, 1n]) * 10n ** 10n }
    const { to, data } = this.#call()
    return { wallet, to, data, value: random.pick([0n, 0n, 5n]) }
  }

  #getter() {
    const name = this.#random.pick(getters)
    return encoded(name, () => this.#random)
  }

  #call() {
    const random = this.#random
    const { tokens, probe: to, accounts } = this.#places
    const from = random.pick(wallets).address
    const account = random.pick([
      ...accounts,
      random.hex(20),
      to,
      ...tokens,
      header,
      bridge,
      `0x${'4'.padStart(40, '0')}`,
    ])
    const number = BigInt(random.below(1000))
    const field = random.pick(headerFields)
    const depth = BigInt(random.pick([0, 1, random.below(4000), random.below(60)]))
    const headerCall = encoded(field, () => random, depth)
    const call = (name, ...values) => ({ from, to, data: probe.encodeFunctionData(name, values) })
    const ofToken = (name, ...values) => ({
      from,
      to: random.pick(tokens),
      data: token.encodeFunctionData(name, values),
    })
    return random.pick([
      () => ofToken('balanceOf', account),
      () => ofToken('transfer', account, number),
      () => ofToken('transfer', account, 10n ** 24n),
      () => ofToken('transferFrom', random.pick(wallets).address, account, number),
      () => ofToken('approve', account, number),
      () => call('block_', BigInt(Math.max(0, this.#number - random.below(300)))),
      () => call('account', account),
      () => call('ask', header, headerCall),
      () => call('ask', bridge, this.#getter()),
      () => call('ask', random.pick(tokens), token.encodeFunctionData('balanceOf', [account])),
      () => call('pass', account, '0x'),
      () => call('pass', bridge, this.#getter()),
      () => call('write', number, BigInt(random.below(6)), random.pick([0n, number])),
      () => call('sum', number, BigInt(random.below(8))),
      () => call('create', random.pick([13n, number]), BigInt(random.below(3))),
      () => call('end', account),
      () => call('fail', BigInt(random.below(5))),
      () => call('spend', number),
    ])()
  }
}

/** Encodes a call by its signature, with numbers around the chain and texts that the Bridge has not seen. */
function encoded(signature, random, first) {
  const [name, list] = signature.slice(0, -1).split('(')
  const types = list === '' ? [] : list.split(',')
  const values = types.map((type, index) => {
    if (first !== undefined && index === 0) return first
    if (type === 'string')
      return name === 'getFederatorPublicKeyOfType' ? random().pick(['btc', 'rsk', 'mst']) : random().hex(32).slice(2)
    if (type === 'bytes32') return random().hex(32)
    return BigInt(random().below(130))
  })
  return new Interface([`function ${name}(${list})`]).encodeFunctionData(name, values)
}
