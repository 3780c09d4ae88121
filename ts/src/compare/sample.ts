import type { CommonBlocks } from './commonChain.ts'
import type { Endpoint } from './endpoint.ts'
import type { Random } from './random.ts'

/** Blocks below the last one whose states are read: nodes with a short history have these, too. */
const stateBlocks = 900
/** Blocks of a log search. */
const searchedBlocks = 20
/** Random objects that are tried for a request. */
const attempts = 20

/** A transaction, as far as requests are made from it. */
interface Transaction {
  readonly hash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  readonly from: string
  readonly to: string | null
  readonly gas: string
  readonly value: string
  readonly input: string
}

/** A block with its transactions, as far as requests are made from it. */
interface Block {
  readonly number: string
  readonly hash: string
  readonly uncles: readonly string[]
  readonly transactions: readonly Transaction[]
}

/** Makes the parameters of a request, or returns null if the object at hand has nothing to ask for. */
type ParameterMaker = (sample: Sample) => Promise<unknown[] | null>

const makers: Readonly<Record<string, ParameterMaker>> = {
  eth_getBlockByNumber: async (sample) => [sample.number(), sample.coin()],
  eth_getBlockByHash: async (sample) => [(await sample.block()).hash, sample.coin()],
  eth_getBlockTransactionCountByNumber: async (sample) => [sample.number()],
  eth_getBlockTransactionCountByHash: async (sample) => [(await sample.block()).hash],
  eth_getUncleCountByBlockHash: async (sample) => [(await sample.block()).hash],
  eth_getUncleByBlockHashAndIndex: async (sample) => {
    const { hash, uncles } = await sample.block()
    return uncles.length === 0 ? null : [hash, quantity(sample.random.below(uncles.length))]
  },
  eth_getTransactionByHash: async (sample) => fieldsOf(await sample.transaction(), ({ hash }) => [hash]),
  eth_getTransactionByBlockNumberAndIndex: async (sample) =>
    fieldsOf(await sample.transaction(), ({ blockNumber, transactionIndex }) => [blockNumber, transactionIndex]),
  eth_getTransactionReceipt: async (sample) => fieldsOf(await sample.transaction(), ({ hash }) => [hash]),
  eth_getLogs: async (sample) => {
    const block = await sample.block()
    const toBlock = quantity(Math.min(Number(block.number) + sample.random.below(searchedBlocks), sample.last))
    const address = sample.coin() ? block.transactions.find(({ to }) => to !== null)?.to : undefined
    return [{ fromBlock: block.number, toBlock, ...(address ? { address } : {}) }]
  },
  eth_getBalance: async (sample) => accountAt(sample, 'from'),
  eth_getTransactionCount: async (sample) => accountAt(sample, 'from'),
  eth_getCode: async (sample) => accountAt(sample, 'to'),
  eth_getStorageAt: async (sample) => {
    const account = await accountAt(sample, 'to')
    return account === null ? null : [account[0], quantity(sample.random.below(10)), account[1]]
  },
  eth_call: async (sample) =>
    fieldsOf(await sample.transaction(stateBlocks), ({ from, to, gas, value, input, blockNumber }) =>
      // Neither REMASC nor a creation.
      Number(gas) === 0 || to === null ? null : [{ from, to, gas, value, data: input }, parentOf(blockNumber)],
    ),
  rsk_getRawBlockHeaderByNumber: async (sample) => [sample.number()],
  rsk_getRawTransactionReceiptByHash: async (sample) => fieldsOf(await sample.transaction(), ({ hash }) => [hash]),
}

/** Methods that can be compared. */
export const comparedMethods: readonly string[] = Object.keys(makers)

/** Random requests about the blocks of a chain. */
export class Sample {
  readonly last: number
  readonly random: Random
  readonly #first: number
  readonly #node: Endpoint

  /** `node` is asked for the blocks from which requests are made. */
  constructor(node: Endpoint, { first, last }: CommonBlocks, random: Random) {
    this.#node = node
    this.#first = first
    this.last = last
    this.random = random
  }

  /** Returns the parameters of a random request, or null if no object was found that it could ask for. */
  async parameters(method: string): Promise<unknown[] | null> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const params = await makers[method]?.(this)
      if (params !== null && params !== undefined) return params
    }
    return null
  }

  /** Returns the number of a random block, among the last `depth` ones. */
  number(depth = this.last): string {
    const count = Math.min(depth, this.last - this.#first) + 1
    return quantity(this.last - this.random.below(count))
  }

  /** Returns a random block, among the last `depth` ones. */
  async block(depth = this.last): Promise<Block> {
    return await this.#node.result<Block>('eth_getBlockByNumber', [this.number(depth), true])
  }

  /** Returns a transaction of a random block, or null if the block has none. */
  async transaction(depth = this.last): Promise<Transaction | null> {
    const { transactions } = await this.block(depth)
    return transactions.length === 0 ? null : this.random.pick(transactions)
  }

  coin(): boolean {
    return this.random.below(2) === 1
  }
}

/** Returns sender or receiver of a recent transaction, and the number of its block or of one before. */
async function accountAt(sample: Sample, side: 'from' | 'to'): Promise<[string, string] | null> {
  return fieldsOf(await sample.transaction(stateBlocks), (transaction) => {
    const { blockNumber } = transaction
    const address = transaction[side]
    return address === null ? null : [address, sample.coin() ? blockNumber : parentOf(blockNumber)]
  })
}

function fieldsOf<T>(transaction: Transaction | null, fields: (transaction: Transaction) => T | null): T | null {
  return transaction === null ? null : fields(transaction)
}

function parentOf(number: string): string {
  return quantity(Math.max(0, Number(number) - 1))
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
