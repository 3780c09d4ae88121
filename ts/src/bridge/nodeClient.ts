/** Log of a receipt. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Receipt of a mined transaction. */
export interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly status: string
  readonly contractAddress: string | null
  readonly logs: readonly Log[]
}

/** Maximum number of blocks in which a transaction must be mined. */
const maxBlocks = 5

/** The node answered a request with an error. */
export class RejectedRequest extends Error {
  override name = 'RejectedRequest'
}

/** JSON-RPC client of a development node. */
export class NodeClient {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request. Throws RejectedRequest if the node answers with an error. */
  async request<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    let response: Response
    try {
      response = await fetch(this.#url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    } catch {
      throw new Error(`no node answers at ${this.#url}`)
    }
    const answer = (await response.json()) as { result?: T; error?: { message: string } }
    if (answer.error !== undefined) throw new RejectedRequest(`${method}: ${answer.error.message}`)
    return answer.result as T
  }

  async blockNumber(): Promise<number> {
    return Number(await this.request<string>('eth_blockNumber'))
  }

  /** Mines empty blocks, or blocks with the waiting transactions. */
  async mine(count: number): Promise<void> {
    for (let mined = 0; mined < count; mined++) await this.request('evm_mine')
  }

  /** Returns the receipt of a transaction. Mines blocks if the node does not mine by itself. */
  async receipt(hash: string): Promise<Receipt> {
    for (let mined = 0; mined < maxBlocks; mined++) {
      const receipt = await this.request<Receipt | null>('eth_getTransactionReceipt', [hash])
      if (receipt !== null) return receipt
      await this.mine(1)
    }
    throw new Error(`transaction ${hash} is not mined: see txpool_content`)
  }

  /** Sends a transaction of an account of the node. */
  async send(transaction: object): Promise<Receipt> {
    return this.receipt(await this.request<string>('eth_sendTransaction', [transaction]))
  }
}
