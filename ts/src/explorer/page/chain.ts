// Results of the node that the page shows.

export interface Transaction {
  readonly hash: string
  readonly nonce: string
  readonly blockHash: string | null
  readonly blockNumber: string | null
  readonly transactionIndex: string | null
  readonly from: string
  readonly to: string | null
  readonly gas: string
  readonly gasPrice: string
  readonly value: string
  readonly input: string
}

export interface BlockOf<T> {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly miner: string
  readonly difficulty: string
  readonly totalDifficulty: string
  readonly extraData: string
  readonly size: string
  readonly gasLimit: string
  readonly gasUsed: string
  readonly timestamp: string
  readonly minimumGasPrice: string | null
  readonly paidFees: string | null
  readonly stateRoot: string
  readonly transactionsRoot: string
  readonly receiptsRoot: string
  readonly transactions: readonly T[]
  readonly uncles: readonly string[]
}

export type Block = BlockOf<Transaction>

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
}

export interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly gasUsed: string
  readonly cumulativeGasUsed: string
  readonly contractAddress: string | null
  readonly status: string
  readonly logs: readonly Log[]
}

/** Call of a transaction, by the callTracer. */
export interface Call {
  readonly type: string
  readonly from: string
  readonly to?: string
  readonly value?: string
  readonly gasUsed: string
  readonly input: string
  readonly output?: string
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly Call[]
}

/** Account before or after a transaction, by the prestateTracer. */
export interface AccountState {
  readonly balance?: string
  readonly nonce?: number
  readonly code?: string
  readonly storage?: Readonly<Record<string, string>>
}

/** Page of the transactions of an address. */
export interface FoundTransactions {
  readonly txs: readonly Transaction[]
  readonly receipts: readonly (Receipt & { readonly timestamp: number })[]
  readonly firstPage: boolean
  readonly lastPage: boolean
}
