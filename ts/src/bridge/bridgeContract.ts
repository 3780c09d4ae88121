import { decodeRlp, Interface, type LogDescription, type Result, type RlpStructuredData, Wallet } from 'ethers'
import { type NodeClient, type Receipt, RejectedRequest } from './nodeClient.ts'

/** Address of the Bridge. */
export const bridgeAddress = '0x0000000000000000000000000000000001000006'

/** Methods and events of the Bridge that a peg needs (docs/spec/bridge.md, 2.1 and 10). */
export const bridgeInterface = new Interface([
  'function receiveHeaders(bytes[])',
  'function registerBtcTransaction(bytes,int256,bytes)',
  'function registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool) returns (int256)',
  'function updateCollections()',
  'function addSignature(bytes,bytes[],bytes)',
  'function getBtcBlockchainBestChainHeight() view returns (int256)',
  'function getBtcBlockchainBestBlockHeader() view returns (bytes)',
  'function getFederationAddress() view returns (string)',
  'function getFederationThreshold() view returns (int256)',
  'function getActivePowpegRedeemScript() view returns (bytes)',
  'function getFeePerKb() view returns (int256)',
  'function getLockingCap() view returns (int256)',
  'function getMinimumLockTxValue() view returns (int256)',
  'function getQueuedPegoutsCount() view returns (uint256)',
  'function getNextPegoutCreationBlockNumber() view returns (uint256)',
  'function getStateForBtcReleaseClient() view returns (bytes)',
  'function getStateForDebugging() view returns (bytes)',
  'event pegin_btc(address indexed receiver, bytes32 indexed btcTxHash, int256 amount, int256 protocolVersion)',
  'event rejected_pegin(bytes32 indexed btcTxHash, int256 reason)',
  'event release_request_received(address indexed sender, string btcDestinationAddress, uint256 amount)',
  'event release_request_rejected(address indexed sender, uint256 amount, int256 reason)',
  'event release_requested(bytes32 indexed rskTxHash, bytes32 indexed btcTxHash, uint256 amount)',
  'event batch_pegout_created(bytes32 indexed btcTxHash, bytes releaseRskTxHashes)',
  'event pegout_confirmed(bytes32 indexed btcTxHash, uint256 pegoutCreationRskBlockNumber)',
  'event release_btc(bytes32 indexed releaseRskTxHash, bytes btcRawTransaction)',
])

/** Gas limit of the transactions of federators, which are free. */
const gasLimit = 3_000_000n

/** A Bitcoin transaction that the Bridge has made. */
export interface PegOutTransaction {
  /** Hash of the Rootstock transaction that made it. */
  readonly key: string
  readonly raw: Uint8Array
}

/** A Bitcoin transaction that waits for confirmations of the block that made it. */
export interface UnconfirmedPegOut extends PegOutTransaction {
  readonly createdAt: number
}

/** The Bridge of a node: views, and transactions of federators. */
export class BridgeContract {
  readonly #node: NodeClient

  constructor(node: NodeClient) {
    this.#node = node
  }

  /** Calls a view and returns its value. */
  async view<T>(method: string): Promise<T> {
    const data = bridgeInterface.encodeFunctionData(method)
    const call = { to: bridgeAddress, data }
    const answer = await this.#node.request<string>('eth_call', [call, 'latest']).catch((error: unknown) => {
      if (!(error instanceof RejectedRequest)) throw error
      throw new Error(`the Bridge does not answer ${method}; is the node on regtest? (${error.message})`)
    })
    if (answer === '0x') throw new Error(`the Bridge does not answer ${method}; is the node on regtest?`)
    return (bridgeInterface.decodeFunctionResult(method, answer) as Result)[0] as T
  }

  /** Returns a number that a view returns. */
  async count(method: string): Promise<number> {
    return Number(await this.view<bigint>(method))
  }

  /** Sends a transaction of a federator to the Bridge. It is free, so the account needs no balance. */
  async send(key: string, method: string, values: readonly unknown[]): Promise<Receipt> {
    const wallet = new Wallet(key)
    const [nonce, chainId] = await Promise.all([
      this.#node.request<string>('eth_getTransactionCount', [wallet.address, 'pending']),
      this.#node.request<string>('eth_chainId'),
    ])
    const data = bridgeInterface.encodeFunctionData(method, values)
    const fields = { type: 0, to: bridgeAddress, gasPrice: 0n, gasLimit, data, chainId: BigInt(chainId) }
    const raw = await wallet.signTransaction({ ...fields, nonce: Number(nonce) })
    return this.#node.receipt(await this.#node.request<string>('eth_sendRawTransaction', [raw]))
  }

  /** Returns the transactions that wait for signatures. */
  async waitingForSignatures(): Promise<PegOutTransaction[]> {
    const [entries] = decodeRlp(await this.view<string>('getStateForBtcReleaseClient')) as [RlpStructuredData[]]
    return grouped(entries, 2).map(([key, raw]) => ({ key: String(key), raw: bytesOf(raw) }))
  }

  /** Returns the transactions that wait for confirmations. */
  async waitingForConfirmations(): Promise<UnconfirmedPegOut[]> {
    const state = decodeRlp(await this.view<string>('getStateForDebugging')) as string[]
    const entries = decodeRlp(state[4] as string) as RlpStructuredData[]
    return grouped(entries, 3).map(([raw, height, key]) => ({
      key: String(key),
      raw: bytesOf(raw),
      createdAt: Number(height === '0x' ? 0 : height),
    }))
  }
}

/** Returns the events of a name in a receipt. */
export function eventsIn(receipt: Receipt, name: string): Result[] {
  const logs = receipt.logs.filter(({ address }) => address.toLowerCase() === bridgeAddress)
  const events = logs.map(({ topics, data }) => bridgeInterface.parseLog({ topics: [...topics], data }))
  return events.filter((event): event is LogDescription => event?.name === name).map(({ args }) => args)
}

function grouped<T>(entries: readonly T[], size: number): T[][] {
  return Array.from({ length: entries.length / size }, (_none, index) =>
    entries.slice(index * size, (index + 1) * size),
  )
}

function bytesOf(hex: unknown): Uint8Array {
  return Buffer.from(String(hex).slice(2), 'hex')
}
