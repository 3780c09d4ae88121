// npm run fuzz -- --against PATH [--cases N] [--seed N]: random programs in blocks of a reference node, imported by this
// one and compared: blocks and receipts by the import itself, then traces, objects, reads, calls and estimates. Both nodes
// judge damaged copies of blocks (blocks.mjs), some of which continue the chain. Chains with the current rules begin with a peg.
// At their end both nodes get the same transactions, and pools and blocks are compared. Every third chain has changes of
// federations instead. PATH starts the reference, see reference.mjs. Each chain has its own seed, which reproduces its programs.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Random } from '../random.mjs'
import { BlockMutants } from './blocks.mjs'
import { accountKeys, callsLike, PoolSenders, pegSteps } from './bridge.mjs'
import { FederationHistory } from './federations.mjs'
import { Programs } from './programs.mjs'
import { Reference } from './reference.mjs'
import { Heights } from './seal.mjs'

/** Random programs of one chain. */
const chainLength = 400
const sendersPerChain = 10
/** Number of printed differences after which the search ends. */
const shownDifferences = 20
/** Errors that are not compared: internal errors of the reference, too large answers. */
const noAnswers = [-32603, -32011]
/** Longer answers are stored as their hash. */
const keptAnswer = 32_768
/** Blocks that both nodes mine, and transactions for each. */
const poolBlocks = 5
const poolTransactions = 20
/** Divisor of the activation heights of the golden chain that crosses all upgrades. */
const heightScale = 15

/** Sends `cases` random programs and returns the number of differences. */
export async function searchAgainst(root, program, cases, seed) {
  const { startNode } = await import(`${root}/ts/dist/index.js`)
  const { DevelopmentBridge } = await import(`${root}/ts/dist/bridge.js`)
  // The native addon of this process, which the package does not export.
  const addon = createRequire(import.meta.url)(`${root}/ts/src/native/rhizome.node`)
  const totals = { transactions: 0, blocks: 0, answers: 0, mutants: 0, differences: 0 }
  const chains = Math.ceil(cases / chainLength)
  for (let chain = 0; chain < chains && totals.differences < shownDifferences; chain++) {
    const length = Math.min(chainLength, cases - chain * chainLength)
    const folder = mkdtempSync(join(tmpdir(), 'rhizome-against-'))
    const search = new Search(root, folder, program, seed + chain, { startNode, addon, DevelopmentBridge })
    try {
      await search.run(length)
    } finally {
      await search.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
    for (const name of Object.keys(totals)) totals[name] += search[name]
    process.stdout.write(
      `seed ${seed + chain} (${search.rules}): ${search.transactions} transactions in ${search.blocks} blocks, ` +
        `${search.answers} answers and ${search.mutants} damaged blocks compared, ${search.differences} differ\n`,
    )
  }
  const { transactions, blocks, answers, mutants, differences } = totals
  process.stdout.write(
    `${transactions} transactions in ${blocks} blocks, ${answers} answers and ${mutants} damaged blocks compared, ` +
      `${differences} differ\n`,
  )
  return differences
}

/** One chain. */
class Search {
  transactions = 0
  blocks = 0
  answers = 0
  mutants = 0
  differences = 0
  rules
  #folder
  #seed
  #random
  #reference
  #own
  #node
  #chainFile
  #heights
  /** Answers of the reference: method, parameters, answer. */
  #asked = []
  #known = []
  #contracts = []

  /** `own`: this node as a function, its addon, and the class that does a peg. */
  constructor(root, folder, program, seed, own) {
    this.#folder = folder
    this.#seed = seed
    this.#random = new Random(seed)
    this.#own = own
    const heights = this.#random.isOne(2) ? upgradeHeights(root) : undefined
    this.#heights = heights ?? heightsOf(root, 'regtest-basic')
    this.rules = heights === undefined ? 'the current rules' : 'all upgrades'
    if (heights !== undefined) {
      this.#chainFile = join(folder, 'chain.json')
      writeFileSync(this.#chainFile, JSON.stringify({ network: 'regtest', consensusRules: heights }))
    }
    this.#reference = new Reference(program, folder, heights)
  }

  async run(length) {
    await this.#reference.start()
    const { result: accounts } = await this.#reference.ask('eth_accounts', [])
    // Their order differs between runs.
    const senders = accounts.toSorted().slice(0, sendersPerChain)
    const hasHistory = this.#random.isOne(3)
    const hasPeg = this.#chainFile === undefined && !hasHistory
    if (hasPeg) await this.#peg(senders)
    if (hasHistory) await this.#history(length)
    else await this.#build(length, senders)
    await this.#read()
    await this.#reference.stop()
    const file = join(this.#folder, 'blocks')
    await this.#reference.export(file, this.blocks)
    await this.#startOwn()
    const mutants = new BlockMutants({
      random: this.#random,
      rules: new Heights(this.#heights),
      keys: accountKeys,
      node: this.#ownBlocks(),
      folder: this.#folder,
    })
    await mutants
      .import(readFileSync(file, 'utf8').trim().split('\n'))
      .catch((error) => this.#show(`import: ${error.message}`))
    this.mutants = mutants.count
    await this.#compare()
    for (const difference of await mutants.compare(this.#reference)) this.#show(difference)
    if (hasPeg && this.differences === 0) await this.#comparePools()
  }

  async stop() {
    await this.#reference.stop()
    await this.#node?.stop()
    this.#node = undefined
  }

  /** Does a peg, and asks for estimates of its calls, before and after each block. */
  async #peg(accounts) {
    const peg = new this.#own.DevelopmentBridge(this.#reference.url)
    for (const step of pegSteps(peg, accounts)) {
      await step()
      const { result: head } = await this.#reference.ask('eth_blockNumber', [])
      while (this.blocks < Number(head)) {
        this.blocks++
        const transactions = await this.#askAboutBlock(quantity(this.blocks))
        for (const call of transactions.flatMap((transaction) => callsLike(transaction, this.#random))) {
          for (const block of [quantity(this.blocks - 1), quantity(this.blocks)]) {
            await this.#ask('eth_estimateGas', [call, block])
            await this.#ask('eth_call', [call, block])
          }
        }
      }
    }
  }

  /** Lets the Bridge change federations, and reads the results of each block. */
  async #history(length) {
    const node = {
      ask: (requests) => this.#reference.askAll(requests),
      compare: (requests) => this.#askAll(requests),
      mined: async (number) => {
        this.blocks = Number(number)
        await this.#askAboutBlock(number)
        return (await this.#ask('eth_getLogs', [{ fromBlock: number, toBlock: number }])).result
      },
    }
    // A round sends about four transactions.
    await new FederationHistory(this.#random, node).run(Math.ceil(length / 4))
  }

  /** Sends transactions, mines them, and reads the results of each block. */
  async #build(length, senders) {
    const random = this.#random
    const nonces = new Map()
    for (const sender of senders) nonces.set(sender, await this.#nonceOf(sender))
    this.#known.push(...senders)
    const programs = new Programs(random, this.#known)
    // Refused transactions count, too.
    for (let sent = 0; sent < length; ) {
      const count = Math.min(1 + random.below(10), length - sent)
      for (let index = 0; index < count; index++, sent++) {
        const from = random.pick(senders)
        const nonce = nonces.get(from)
        const transaction = { from, nonce: quantity(nonce), ...this.#transaction(programs) }
        const { result } = await this.#reference.ask('eth_sendTransaction', [transaction])
        if (result !== undefined) nonces.set(from, nonce + 1)
      }
      await this.#reference.ask('evm_mine', [])
      const { result: head } = await this.#reference.ask('eth_blockNumber', [])
      // For some transactions no receipt can be created: the reference can mine neither them nor other transactions with them.
      if (Number(head) === this.blocks) return
      this.blocks++
      await this.#askAboutBlock(quantity(this.blocks))
    }
  }

  #transaction(programs) {
    const random = this.#random
    const isCreation = this.#contracts.length < 3 || random.isOne(3)
    const data = isCreation ? programs.init() : programs.input()
    const target = isCreation ? {} : { to: random.isOne(8) ? random.pick(this.#known) : random.pick(this.#contracts) }
    return {
      ...target,
      gas: quantity(random.pick([53_000, 60_000, 90_000, 150_000, 300_000, 600_000, 1_200_000])),
      gasPrice: quantity(random.below(3)),
      value: quantity(random.pick([0, 0, 0, 1, 1000])),
      data: hex(data),
    }
  }

  /** Returns the transactions of the block, without the last one, which pays the miners. */
  async #askAboutBlock(number) {
    const { result: block } = await this.#ask('eth_getBlockByNumber', [number, true])
    await this.#ask('trace_block', [number])
    const transactions = block.transactions.filter(({ from }) => !/^0x0*$/.test(from))
    for (const { hash, to } of transactions) {
      this.transactions++
      const { result: receipt } = await this.#ask('eth_getTransactionReceipt', [hash])
      await this.#ask('debug_traceTransaction', [hash])
      await this.#ask('debug_traceTransaction', [hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }])
      if (to !== null || receipt.status !== '0x1') continue
      this.#contracts.push(receipt.contractAddress)
      this.#known.push(receipt.contractAddress)
    }
    return transactions
  }

  /** Reads the state at several heights, and runs calls on it. */
  async #read() {
    const random = this.#random
    const programs = new Programs(random, this.#known)
    await this.#ask('eth_getLogs', [{ fromBlock: '0x1', toBlock: quantity(this.blocks) }])
    for (const address of this.#known) {
      for (const block of [quantity(1 + random.below(this.blocks)), quantity(this.blocks)]) {
        await this.#ask('eth_getBalance', [address, block])
        await this.#ask('eth_getTransactionCount', [address, block])
        await this.#ask('eth_getCode', [address, block])
        await this.#ask('eth_getStorageAt', [address, quantity(random.below(4)), block])
        const call = { from: random.pick(this.#known), to: address, data: hex(programs.input()) }
        await this.#ask('eth_call', [call, block])
        await this.#ask('eth_estimateGas', [call, block])
      }
    }
  }

  async #ask(method, params) {
    const answer = await this.#reference.ask(method, params)
    this.#keep(method, params, answer)
    return answer
  }

  async #askAll(requests) {
    const answers = await this.#reference.askAll(requests)
    for (const [index, [method, params]] of requests.entries()) this.#keep(method, params, answers[index])
  }

  #keep(method, params, answer) {
    // After a failed detailed trace, the trace of the next transaction fails, too.
    const isLost = method === 'debug_traceTransaction' && answer.result === null
    const isLeftOut = isLost || noAnswers.includes(answer.error?.code)
    this.#asked.push({ method, params, answer: kept(canonical(answer)), isLeftOut })
  }

  async #startOwn() {
    this.#node = await this.#own.startNode({
      ephemeral: true,
      compat: 'reference',
      mining: 'off',
      ...(this.#chainFile === undefined ? {} : { chain: this.#chainFile }),
      rpc: { timeoutMs: 60_000 },
      http: { port: 0, workers: 1 },
      log: { level: 'error' },
      modules: { debug: { enabled: true }, trace: { enabled: true } },
    })
  }

  /** Returns what mutants of blocks need from this node. */
  #ownBlocks() {
    const done = () => undefined
    const importBlocks = (file) => this.#own.addon.importBlocks(file, '{}', done).then(done, ({ message }) => message)
    return { importBlocks, ask: (method, params) => this.#askOwn(method, params) }
  }

  /** Sends the same requests to this node. Leaves out requests that the reference cannot answer. */
  async #compare() {
    for (const { method, params, answer, isLeftOut } of this.#asked) {
      if (isLeftOut) continue
      this.answers++
      const got = canonical(await this.#askOwn(method, params))
      if (kept(got) === answer) continue
      this.#show(`${method} ${JSON.stringify(params)}${firstDifference(answer, kept(got))}`)
      if (this.differences >= shownDifferences) return
    }
  }

  /** Sends the same transactions to both nodes. Compares answers, pools, and the blocks that both mine. */
  async #comparePools() {
    const senders = new PoolSenders(this.#random)
    for (let mined = 0; mined < poolBlocks && this.differences === 0; mined++) {
      await senders.start((address) => this.#nonceOf(address))
      for (let sent = 0; sent < poolTransactions; sent++) {
        if (this.#random.isOne(3)) {
          // Texts of damaged encodings differ (docs/differences.md, D15).
          await this.#askBoth('eth_sendRawTransaction', [await senders.damaged()], ({ result }) => ({ result }))
        } else await this.#askBoth('eth_sendRawTransaction', [await senders.next()])
      }
      await this.#askBoth('txpool_content', [])
      await this.#askBoth('evm_mine', [])
      await this.#askBoth('eth_getBlockByNumber', ['latest', false], contentOf)
    }
  }

  async #askBoth(method, params, compared = (answer) => answer) {
    const [expected, got] = await Promise.all([this.#reference.ask(method, params), this.#askOwn(method, params)])
    this.answers++
    const [expectedText, gotText] = [expected, got].map((answer) => canonical(compared(answer)))
    if (expectedText === gotText) return
    this.#show(`${method} ${JSON.stringify(params)} of both${firstDifference(expectedText, gotText)}`)
  }

  async #nonceOf(address) {
    const { result } = await this.#reference.ask('eth_getTransactionCount', [address, 'pending'])
    return Number(result)
  }

  async #askOwn(method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(this.#node.url, { method: 'POST', headers, body })).json()
  }

  #show(text) {
    this.differences++
    process.stdout.write(`seed ${this.#seed}: ${text}\n`)
  }
}

/** Returns the members of a block that do not depend on its time. */
function contentOf({ result: { number, transactions, receiptsRoot, stateRoot } }) {
  return { number, transactions, receiptsRoot, stateRoot }
}

/** Returns the activation heights of a golden chain. */
function heightsOf(root, chain) {
  const specs = JSON.parse(gunzipSync(readFileSync(`${root}/tests/vectors/blocks/chain_specs.json.gz`)).toString())
  return specs[chain].consensusRules
}

/** Returns the activation heights of the golden chain that crosses all upgrades, divided so that a short chain does. */
function upgradeHeights(root) {
  const heights = Object.entries(heightsOf(root, 'all-forks'))
  return Object.fromEntries(
    heights.map(([rule, height]) => [rule, height < 1 ? height : Math.ceil(height / heightScale)]),
  )
}

function quantity(number) {
  return `0x${number.toString(16)}`
}

function hex(bytes) {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/**
 * Returns the text of an answer with sorted members, and without intended differences (docs/differences.md):
 * `removed`, and the error text of a precompile that fails.
 */
function canonical(answer) {
  return JSON.stringify(answer, (name, value) => {
    if (name === 'removed') return undefined
    if (name === 'error' && typeof value === 'string') return value.replace(/(VMException): .*/, '$1')
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isTree ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
  })
}

function kept(text) {
  if (text.length <= keptAnswer) return text
  return `${text.length} characters, SHA-256 ${createHash('sha256').update(text).digest('hex')}`
}

/** Returns the text around the first differing character. */
function firstDifference(expected, got) {
  let at = 0
  while (at < expected.length && expected[at] === got[at]) at++
  const around = (text) => text.slice(Math.max(0, at - 60), at + 140)
  return `\n  reference ...${around(expected)}\n  here      ...${around(got)}`
}
