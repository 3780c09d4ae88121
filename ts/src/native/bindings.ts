import type { Answer } from '../rpc/envelope.ts'

// What the addon exports. Names are wire names in camel case; parameters arrive checked (rpc/parameters), results are
// finished JSON. `Pooled` functions execute in the addon's pool: they take milliseconds left (0: no limit) and a ticket
// by which `cancelTicket` ends them.

type Pooled<Parameters extends unknown[]> = (
  ...parameters: [...Parameters, deadlineMs: number, ticket: number]
) => Promise<Answer>

export interface Addon {
  /** Opens the one node of this process. Takes and returns JSON. */
  openNode(config: string): string
  nodeInfo(): string
  closeNode(): Promise<string>
  cancelTicket(ticket: number): void

  web3ClientVersion(): Answer
  web3Sha3(data: string): Answer
  netVersion(): Answer
  netListening(): Answer
  netPeerCount(): Answer
  netPeerList(): Answer
  ethProtocolVersion(): Answer
  ethChainId(): Answer
  ethBlockNumber(): Answer
  ethGasPrice(): Answer
  ethCoinbase(): Answer
  ethMining(): Answer
  ethHashrate(): Answer
  ethAccounts(): Answer
  ethSyncing(): Answer
  ethGetBalance(address: string, block: string): Answer
  ethGetTransactionCount(address: string, block: string): Answer
  ethGetCode(address: string, block: string): Answer
  ethGetStorageAt(address: string, position: string, block: string): Answer
  ethGetBlockByHash(hash: string, isFull: boolean): Answer
  ethGetBlockByNumber(block: string, isFull: boolean): Answer
  ethGetBlocksByNumber(number: string): Answer
  ethGetBlockTransactionCountByHash(hash: string): Answer
  ethGetBlockTransactionCountByNumber(block: string): Answer
  ethGetUncleCountByBlockHash(hash: string): Answer
  ethGetUncleCountByBlockNumber(block: string): Answer
  ethGetUncleByBlockHashAndIndex(hash: string, index: number): Answer
  ethGetUncleByBlockNumberAndIndex(block: string, index: number): Answer
  ethGetTransactionByHash(hash: string): Answer
  ethGetTransactionByBlockHashAndIndex(hash: string, index: number): Answer
  ethGetTransactionByBlockNumberAndIndex(block: string, index: number): Answer
  ethGetTransactionReceipt(hash: string): Answer
  ethPendingTransactions(): Answer
  evmSnapshot(): Answer
  evmIncreaseTime(seconds: number): Answer

  ethCall: Pooled<[call: string, block: string]>
  ethEstimateGas: Pooled<[call: string, block: string]>
  ethGetLogs: Pooled<[filter: string]>
  ethSendRawTransaction: Pooled<[data: string]>
  ethSendTransaction: Pooled<[transaction: string]>
  ethSign: Pooled<[address: string, data: string]>
  evmMine: Pooled<[]>
  evmRevert: Pooled<[id: number]>
  evmReset: Pooled<[]>
  evmStartMining: Pooled<[]>
  evmStopMining: Pooled<[]>

  /** The head as `{"number":..,"hash":".."}`. */
  headCursor(): string
  /** What became and what left the main chain since a block: `{"hashes":[..],"removed":[..],"cursor":{..}}`. */
  mainHashesSince(number: number, hash: string): string
  /** Transactions that became pending after a position: `{"hashes":[..],"position":..}`. */
  pendingHashesSince(position: number): string
  pendingPosition(): number
  /** Calls back with each new head; a slow listener misses some, never the last. Does not keep the thread alive. */
  onHead(callback: (number: number, hash: string) => void): void
  /** The logs of these blocks (a JSON array of hashes) that match a filter. */
  logsOfBlocks(hashes: string, filter: string, isRemoved: boolean): Answer

  /** Reports `{number,hash,stateRoot,result}` for each block, resolves with counts. `options` is `{}`. */
  importBlocks(
    path: string,
    options: string,
    onProgress: (error: Error | null, progress: string) => void,
  ): Promise<string>
  /** Resolves with `{"blocks","from","to"}`. */
  exportBlocks(path: string, from: number, to: number): Promise<string>
}
