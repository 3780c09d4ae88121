// Generated from crates/addon by crates/addon/typings.mjs. Do not edit.

/** Copies a piece to the end of a body. */
export declare function addToBody(body: object, piece: Uint8Array): void

/** Returns the address of a key. Fails if this node cannot keep it. */
export declare function addressOfKey(key: string): string | Buffer

/** Answers `admin_addPeer`. */
export declare function adminAddPeer(enode: string): string | Buffer

/** Answers `admin_nodeInfo`. */
export declare function adminNodeInfo(): string | Buffer

/** Answers `admin_peers`. */
export declare function adminPeers(): string | Buffer

/** Answers `admin_removePeer`. Takes a URL or an id. */
export declare function adminRemovePeer(peer: string): string | Buffer

/** Answers `anvil_autoImpersonateAccount`. */
export declare function anvilAutoImpersonateAccount(isOn: boolean): string | Buffer

/** Answers `anvil_dropAllTransactions`. */
export declare function anvilDropAllTransactions(): string | Buffer

/** Answers `anvil_dumpState`. */
export declare function anvilDumpState(maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `anvil_loadState`. */
export declare function anvilLoadState(state: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `anvil_nodeInfo`. */
export declare function anvilNodeInfo(): string | Buffer

/** Answers `anvil_removeBlockTimestampInterval`. */
export declare function anvilRemoveBlockTimestampInterval(): string | Buffer

/** Answers `anvil_removePoolTransactions`. */
export declare function anvilRemovePoolTransactions(sender: string): string | Buffer

/** Answers `anvil_reorg`. An empty text means no transactions. */
export declare function anvilReorg(depth: number, transactions: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `anvil_rollback`. */
export declare function anvilRollback(depth: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `anvil_setBlockTimestampInterval`. */
export declare function anvilSetBlockTimestampInterval(seconds: number): string | Buffer

/** Answers `anvil_setLoggingEnabled`. */
export declare function anvilSetLoggingEnabled(isOn: boolean): string | Buffer

/** Answers `anvil_setRpcUrl`. */
export declare function anvilSetRpcUrl(url: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Returns the result of the remote node of a fork. `params`: a JSON array. */
export declare function askRemote(method: string, params: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Bans a node by id or URL, or addresses, for some seconds or without end. */
export declare function banPeer(target: string, seconds?: number | undefined | null): string

/** Returns a copy of a part of a body that was split, in bytes. */
export declare function bodyBytes(body: object, start: number, end: number): Buffer

/** Returns a part of a body that was split, for functions that take texts. The bytes are not copied. */
export declare function bodyPart(body: object, start: number, end: number): object

/** Returns a part of a body that was split. The range, in bytes, begins and ends between characters. */
export declare function bodyText(body: object, start: number, end: number): string

/** Ends the execution of a cancellation token. Does nothing if it has ended. */
export declare function cancelExecution(token: number): void

/** Deletes the cache files of forks in a folder. Needs no node. */
export declare function clearForkCache(folder: string): void

/** Frees the memory of a body. */
export declare function closeBody(body: object): void

/** Cancels running work, writes all data to disk and closes the database. Then a node may be opened again. */
export declare function closeNode(): Promise<string>

/**
 * Writes the best chain up to a height into an archive, or continues one. `keyFile`: private key of the publisher, created if
 * missing. Calls `onProgress(null, json)` for every 256 blocks with `{number}`. Resolves with
 * `{"written","files","last","publisher"}`.
 */
export declare function createArchive(location: string, keyFile: string, to: number, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Copies the database of a data directory, also of a running node, and writes it as a checkpoint into a folder or an s3 URL.
 * `keyFile`: private key of the publisher, created if missing. Calls `onProgress(null, json)` with `{done, total}` in bytes.
 * Resolves with the checkpoint as `listCheckpoints` does, and `written`: new bytes in the location.
 */
export declare function createCheckpoint(dir: string, location: string, keyFile: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Answers `debug_accountTransactionQuota`. */
export declare function debugAccountTransactionQuota(address: string): string | Buffer

/** Answers `debug_getRawBlock`. */
export declare function debugGetRawBlock(block: string): string | Buffer

/** Answers `debug_getRawHeader`. */
export declare function debugGetRawHeader(block: string): string | Buffer

/** Answers `debug_getRawReceipts`. */
export declare function debugGetRawReceipts(block: string): string | Buffer

/** Answers `debug_storageRangeAt`. */
export declare function debugStorageRangeAt(block: string, index: number, address: string, start: string, most: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `debug_traceBlockByHash` and `debug_traceBlockByNumber`. */
export declare function debugTraceBlock(block: string, options: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `debug_traceCall`. */
export declare function debugTraceCall(call: string | object, block: string, options: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `debug_traceBlock`. */
export declare function debugTraceRawBlock(block: string | object, options: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `debug_traceTransaction`. */
export declare function debugTraceTransaction(hash: string, options: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `debug_wireProtocolQueueSize`. */
export declare function debugWireProtocolQueueSize(): string | Buffer

/** Returns the encrypted key of a stored account, or null. */
export declare function encryptedKey(address: string): string | Buffer

/** Answers `eth_accounts`. */
export declare function ethAccounts(): string | Buffer

/** Answers `eth_blockNumber`. */
export declare function ethBlockNumber(): string | Buffer

/** Answers `eth_bridgeState`. */
export declare function ethBridgeState(): string | Buffer | Promise<string | Buffer>

/**
 * Answers `eth_call`. Overrides are JSON objects; an empty text means none. Answers inline if `may_run_inline` and
 * the call is short.
 */
export declare function ethCall(call: string | object, block: string, stateOverrides: string | object, blockOverrides: string | object, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** Answers `eth_callMany` with at most `max_bytes`. Empty texts of context and overrides mean none. */
export declare function ethCallMany(bundles: string | object, context: string | object, stateOverrides: string | object, maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_capabilities`. */
export declare function ethCapabilities(): string | Buffer

/** Answers `eth_chainId`. */
export declare function ethChainId(): string | Buffer

/** Answers `eth_coinbase`. */
export declare function ethCoinbase(): string | Buffer

/** Answers `eth_config`. */
export declare function ethConfig(): string | Buffer

/**
 * Answers `eth_estimateGas`. Overrides are JSON objects; an empty text means none. Answers inline if `may_run_inline` and
 * the call is short.
 */
export declare function ethEstimateGas(call: string | object, block: string, stateOverrides: string | object, blockOverrides: string | object, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** Answers `eth_feeHistory`. */
export declare function ethFeeHistory(count: string, newest: string, percentiles: Array<number>, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_fillTransaction`. */
export declare function ethFillTransaction(transaction: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_gasPrice`. */
export declare function ethGasPrice(): string | Buffer

/** Answers `eth_getBalance`. */
export declare function ethGetBalance(address: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `eth_getBlockByHash`. */
export declare function ethGetBlockByHash(hash: string, isFull: boolean): string | Buffer

/** Answers `eth_getBlockByNumber`. */
export declare function ethGetBlockByNumber(block: string, isFull: boolean): string | Buffer

/** Answers `eth_getBlockReceipts`. */
export declare function ethGetBlockReceipts(block: string): string | Buffer

/** Answers `eth_getBlockTransactionCountByHash`. */
export declare function ethGetBlockTransactionCountByHash(hash: string): string | Buffer

/** Answers `eth_getBlockTransactionCountByNumber`. */
export declare function ethGetBlockTransactionCountByNumber(block: string): string | Buffer

/** Answers `eth_getBlocksByNumber`. */
export declare function ethGetBlocksByNumber(number: string): string | Buffer

/** Answers `eth_getCode`. */
export declare function ethGetCode(address: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `eth_getHeaderByHash`. */
export declare function ethGetHeaderByHash(hash: string): string | Buffer

/** Answers `eth_getHeaderByNumber`. */
export declare function ethGetHeaderByNumber(block: string): string | Buffer

/** Answers `eth_getLogs` with at most `max_bytes`. Answers inline if `may_run_inline` and few blocks have to be searched. */
export declare function ethGetLogs(filter: string | object, maxBytes: number, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/**
 * Answers `eth_getProof`. `positions`: storage slots in the form of a parameter. Answers inline if `may_run_inline`
 * and the slots are few.
 */
export declare function ethGetProof(address: string, positions: Array<string>, block: string, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** Answers `eth_getRawTransactionByBlockHashAndIndex`. */
export declare function ethGetRawTransactionByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** Answers `eth_getRawTransactionByBlockNumberAndIndex`. */
export declare function ethGetRawTransactionByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** Answers `eth_getRawTransactionByHash`. */
export declare function ethGetRawTransactionByHash(hash: string): string | Buffer

/** Answers `eth_getStorageAt`. */
export declare function ethGetStorageAt(address: string, position: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `eth_getStorageValues`. */
export declare function ethGetStorageValues(slots: string | object, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_getTransactionByBlockHashAndIndex`. */
export declare function ethGetTransactionByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** Answers `eth_getTransactionByBlockNumberAndIndex`. */
export declare function ethGetTransactionByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** Answers `eth_getTransactionByHash`. */
export declare function ethGetTransactionByHash(hash: string): string | Buffer

/** Answers `eth_getTransactionBySenderAndNonce`. */
export declare function ethGetTransactionBySenderAndNonce(sender: string, nonce: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_getTransactionCount`. */
export declare function ethGetTransactionCount(address: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `eth_getTransactionReceipt`. */
export declare function ethGetTransactionReceipt(hash: string): string | Buffer

/** Answers `eth_getUncleByBlockHashAndIndex`. */
export declare function ethGetUncleByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** Answers `eth_getUncleByBlockNumberAndIndex`. */
export declare function ethGetUncleByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** Answers `eth_getUncleCountByBlockHash`. */
export declare function ethGetUncleCountByBlockHash(hash: string): string | Buffer

/** Answers `eth_getUncleCountByBlockNumber`. */
export declare function ethGetUncleCountByBlockNumber(block: string): string | Buffer

/** Answers `eth_getWork`. */
export declare function ethGetWork(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_hashrate`. */
export declare function ethHashrate(): string | Buffer

/** Answers `eth_maxPriorityFeePerGas`. */
export declare function ethMaxPriorityFeePerGas(): string | Buffer

/** Answers `eth_mining`. */
export declare function ethMining(): string | Buffer

/** Answers `eth_netHashrate`. */
export declare function ethNetHashrate(): string | Buffer

/** Answers `eth_pendingTransactions` with at most `max_bytes`. */
export declare function ethPendingTransactions(maxBytes: number): string | Buffer

/** Answers `eth_protocolVersion`. */
export declare function ethProtocolVersion(): string | Buffer

/** Answers `eth_sendRawTransaction`. */
export declare function ethSendRawTransaction(data: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_sendTransaction`. */
export declare function ethSendTransaction(transaction: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_sendUnsignedTransaction`. */
export declare function ethSendUnsignedTransaction(transaction: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_sign`. */
export declare function ethSign(address: string, data: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_signTypedData_v4` for the hash of the data. */
export declare function ethSignTypedData(address: string, hash: string): string | Buffer

/** Answers `eth_simulateV1` with at most `max_bytes`. */
export declare function ethSimulate(simulation: string | object, block: string, maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `eth_submitHashrate`. */
export declare function ethSubmitHashrate(): string | Buffer

/** Answers `eth_submitWork`. */
export declare function ethSubmitWork(): string | Buffer

/** Answers `eth_syncing`. */
export declare function ethSyncing(): string | Buffer

/** Answers `evm_increaseTime`. */
export declare function evmIncreaseTime(seconds: number): string | Buffer

/** Answers `evm_mine`. A timestamp below 0 means none. */
export declare function evmMine(blocks: number, timestamp: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `evm_reset`. */
export declare function evmReset(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `evm_revert`. */
export declare function evmRevert(id: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `evm_setAutomine`. */
export declare function evmSetAutomine(isOn: boolean): string | Buffer

/** Answers `evm_setBlockGasLimit`. */
export declare function evmSetBlockGasLimit(gasLimit: string): string | Buffer

/** Answers `evm_setIntervalMining`. */
export declare function evmSetIntervalMining(milliseconds: number): string | Buffer

/** Answers `evm_setNextBlockTimestamp`. */
export declare function evmSetNextBlockTimestamp(timestamp: number): string | Buffer

/** Answers `evm_setTime`. */
export declare function evmSetTime(timestamp: number): string | Buffer

/** Answers `evm_snapshot`. */
export declare function evmSnapshot(): string | Buffer

/** Answers `evm_startMining`. */
export declare function evmStartMining(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `evm_stopMining`. */
export declare function evmStopMining(deadlineMs: number, token: number): Promise<string | Buffer>

/**
 * Writes the blocks of the main chain from one height to another into a file. Calls `onProgress(null, json)` for each
 * with `{number}`. Resolves with `{"blocks","from","to"}`.
 */
export declare function exportBlocks(path: string, from: number, to: number, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Returns the events of a change feed behind a place, and a last line with the place of the next page: see
 * `answers/src/feed/page.rs`. A page ends after [`PAGE_TIME`]; the execution of a block fails after `deadline_ms`.
 */
export declare function feedPage(from: string, content: string, isEventStream: boolean, maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Returns where the older blocks of a fork are: `remote` (in another node), `local` (in a directory), or null without a fork. */
export declare function forkedChain(): 'remote' | 'local' | null

/** Answers `hardhat_dropTransaction`. */
export declare function hardhatDropTransaction(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_getAutomine`. */
export declare function hardhatGetAutomine(): string | Buffer

/** Answers `hardhat_impersonateAccount`. */
export declare function hardhatImpersonateAccount(address: string): string | Buffer

/** Answers `hardhat_metadata`. */
export declare function hardhatMetadata(): string | Buffer

/** Answers `hardhat_mine`. An interval below 0 means none. */
export declare function hardhatMine(blocks: number, interval: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_reset`. `forking`: JSON; `None` leads to a chain that is no fork. */
export declare function hardhatReset(forking: string | undefined | null, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_setBalance`. */
export declare function hardhatSetBalance(address: string, balance: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_setCode`. */
export declare function hardhatSetCode(address: string, code: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_setCoinbase`. */
export declare function hardhatSetCoinbase(address: string): string | Buffer

/** Answers `hardhat_setMinGasPrice`. */
export declare function hardhatSetMinGasPrice(price: string): string | Buffer

/** Answers `hardhat_setNonce`. */
export declare function hardhatSetNonce(address: string, nonce: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_setStorageAt`. */
export declare function hardhatSetStorageAt(address: string, position: string, word: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `hardhat_stopImpersonatingAccount`. */
export declare function hardhatStopImpersonatingAccount(address: string): string | Buffer

/** Returns the memory of the number of changes of the head: one word, which grows behind each change. */
export declare function headChangeCount(): Uint32Array

/** Returns the head: `{"number","hash"}`. */
export declare function headCursor(): string

/** Returns the header of a block in the form of `newHeads` subscriptions, `null` if the block is unknown. */
export declare function headOfBlock(hash: string): string

/**
 * Imports the blocks above the head from archives: folders, http, https or s3 URLs. Calls `onProgress(null, json)` for each block
 * with `{number, hash, stateRoot, result}`. `trust`: the required publisher of each, empty for any. Resolves with counts, and
 * the failures of archives that another archive replaced; `last` if the node was closed before the last block:
 * `{"blocks","best","side","known","head","refused"}`.
 */
export declare function importArchives(locations: Array<string>, trust: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Imports a file of blocks. Calls `onProgress(null, json)` for each block with `{number, hash, stateRoot, result}`.
 * Resolves with counts: `{"blocks","best","side","known","head"}`. `options` is an empty JSON object.
 */
export declare function importBlocks(path: string, options: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Imports the blocks of a data directory of rskj whose node does not run. Calls `onProgress(null, json)` with `{rows}` while the
 * directory is searched, with `{last}` when its heaviest chain is known, and for each block with `{number, hash, stateRoot,
 * result}`. Resolves with counts: `{"blocks","best","side","known","head"}`.
 */
export declare function importRskj(dir: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Returns number and hash of the block of the tag latest, separated by a space; null if its number and the first six bytes of its
 * hash are the given ones.
 */
export declare function latestBlock(number: number, start: number): string | null

/** Returns the transactions that blocks have left out since the last call: `[{"hash","from","nonce","reason","isDropped"}]`. */
export declare function leftOut(): string

/** Reads the manifest of an archive without a node. Resolves with network, publisher and files. */
export declare function listArchive(location: string, trust: string): Promise<string>

/**
 * Lists the checkpoints of a folder or an s3 URL, lowest block first. `trust`: the required publisher, empty for any. Resolves with
 * `[{"name","chainId","genesis","number","hash","stateRoot","sequence","layout","hasAllTries","oldestState","created","files",
 * "bytes","publisher"}]`.
 */
export declare function listCheckpoints(location: string, trust: string): Promise<string>

/** Returns the cache files of forks in a folder. Needs no node. */
export declare function listForkCache(folder: string): string

/** Loads a state file. Returns the number of its accounts, `null` if there is no file. */
export declare function loadStateFile(path: string): Promise<string | Buffer>

/**
 * Returns the matching logs of blocks (a JSON array of hashes), at most `max_bytes`; logs of removed blocks in reverse order and
 * marked.
 */
export declare function logsOfBlocks(hashes: string, filter: string, isRemoved: boolean, maxBytes: number): string | Buffer

/** Returns the changes of the main chain since a block, at most `most` new blocks: `{"hashes","removed","cursor"}`. */
export declare function mainHashesSince(number: number, hash: string, most: number): string

/**
 * Imports the blocks of another data directory of the same network that no node has open, of this or an earlier layout. Calls
 * `onProgress(null, json)` with `{warning}` if it has lost its last blocks, `{last}`, the number of its last block, then for each block
 * with `{number, hash, stateRoot, result}`. Resolves with counts: `{"blocks","best","side","known","head"}`.
 */
export declare function migrateBlocks(dir: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Returns the block template in the form of `mnr_getWork`. The next miner still gets the request to change over. */
export declare function mnrCurrentWork(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `mnr_getWork`. */
export declare function mnrGetWork(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `mnr_submitBitcoinBlock`. Hex. */
export declare function mnrSubmitBitcoinBlock(block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `mnr_submitBitcoinBlockPartialMerkle`. Hex; hashes of the Merkle branch separated by blanks. */
export declare function mnrSubmitBitcoinBlockPartialMerkle(header: string, coinbase: string, branch: string, count: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `mnr_submitBitcoinBlockTransactions`. Hex; transaction ids separated by blanks. */
export declare function mnrSubmitBitcoinBlockTransactions(header: string, coinbase: string, ids: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `net_listening`. */
export declare function netListening(): string | Buffer

/** Answers `net_peerCount`. */
export declare function netPeerCount(): string | Buffer

/** Answers `net_peerList`. */
export declare function netPeerList(): string | Buffer

/** Answers `net_version`. */
export declare function netVersion(): string | Buffer

/** Returns statistics of the node: head, pool, executors, database. Reads memory only. */
export declare function nodeFigures(): string

/** Returns network, chain id, genesis, head, highest block and size on disk. */
export declare function nodeInfo(): string

/** Returns the fault of an object of a request by the name of the parameter: `{"message","hint","shows"}` or `null`. */
export declare function objectFault(name: string, object: string | object): string | Buffer

/**
 * Sets the function that is called when more answers of this thread wait than one step settles: it has to call `settleAnswers`
 * until that returns false. Without it, all answers that are ready are settled in one step. Later calls have no effect.
 */
export declare function onAnswers(callback: () => void): void

/**
 * Sets the listener of this worker for changes of the head, in place of an earlier listener. Changes in quick succession
 * cause a single call. Does not keep the worker running.
 */
export declare function onHead(callback: () => void): void

/** Sets the listener of this worker for transactions that a block left out. */
export declare function onLeftOut(callback: () => void): void

/** Sets the listener of this worker for transactions that became executable. */
export declare function onPending(callback: () => void): void

/** Opens an empty body. */
export declare function openBody(): object

/** Opens the node of this process. Takes its settings as JSON, returns the result of `nodeInfo`. */
export declare function openNode(config: string): string

/** Answers `ots_getBlockDetails` and `ots_getBlockDetailsByHash`. */
export declare function otsGetBlockDetails(block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_getBlockTransactions`. */
export declare function otsGetBlockTransactions(block: string, page: number, pageSize: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_getContractCreator`. */
export declare function otsGetContractCreator(address: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_getInternalOperations`. */
export declare function otsGetInternalOperations(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_getTransactionBySenderAndNonce`. */
export declare function otsGetTransactionBySenderAndNonce(sender: string, nonce: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_getTransactionError`. */
export declare function otsGetTransactionError(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_hasCode`. */
export declare function otsHasCode(address: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `ots_searchTransactionsBefore`, and `ots_searchTransactionsAfter` with `is_forward`, with at most `max_bytes`. */
export declare function otsSearchTransactions(address: string, block: number, isForward: boolean, pageSize: number, maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `ots_traceTransaction`. */
export declare function otsTraceTransaction(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Returns the nodes that are always dialled, and the bans of the operator. */
export declare function peerRules(): string

/** Returns the transactions that became executable after a position: `{"hashes","position"}`. */
export declare function pendingHashesSince(position: number): string

/** Returns the position after the last transaction that became executable. */
export declare function pendingPosition(): number

/** Answers `personal_dumpRawKey`. */
export declare function personalDumpRawKey(address: string): string | Buffer

/** Answers `personal_ecRecover`. */
export declare function personalEcRecover(data: string, signature: string): string | Buffer

/** Answers `personal_listAccounts`. */
export declare function personalListAccounts(): string | Buffer

/** Answers `personal_lockAccount`. */
export declare function personalLockAccount(address: string): string | Buffer

/** Answers `personal_newAccountWithSeed`. */
export declare function personalNewAccountWithSeed(seed: string): string | Buffer

/** Answers `personal_sendTransaction` with a decrypted key. */
export declare function personalSendTransaction(transaction: string | object, key: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `personal_sign` with a decrypted key. */
export declare function personalSign(data: string, key: string): string | Buffer

/** Unlocks a stored account with its decrypted key. */
export declare function personalUnlockAccount(address: string, key: string, milliseconds: number): string | Buffer

/** Returns whether events of the chain may be printed. */
export declare function printsChain(): boolean

/**
 * Deletes the states that `storage.history` does not ask for, and frees their space. Calls `onProgress(null, json)` with
 * `{oldestState, target}`, then with `{done, total}` steps of rewriting files. Resolves with
 * `{"oldestState","bytesBefore","bytes","partial"}`: partial if the node was closed meanwhile.
 */
export declare function pruneStates(onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Directs further calls of this thread to the older blocks of a fork of a directory, or back. To be called around one request. */
export declare function readOlderBlocks(isOn: boolean): void

/**
 * Frees the memory of buffers that a [`Reply`] became, and leaves them empty. Skips memory that other objects may use: a part of an
 * `ArrayBuffer`, or a `SharedArrayBuffer`.
 * 
 * The engine frees them only when it collects all objects, 4 to 8 ms in one step, which it does whenever a worker has made 64 MB of
 * them. Batches of blocks from 100 connections: a quarter of the collections.
 */
export declare function releaseBuffers(buffers: ReadonlyArray<Buffer>): void

/**
 * Returns the number of a block that only the remote node of a fork has, with `is_state` of one whose state only that node has; else
 * `null`.
 */
export declare function remoteBlockNumber(block: string, isState: boolean): string

/**
 * Makes a checkpoint the database of a data directory. `config` is that of `openNode`. Calls `onProgress(null, json)` with
 * `{done, total}` in bytes. Resolves with the checkpoint as `listCheckpoints` does, and `read`: downloaded bytes; with null if the
 * directory has a chain.
 */
export declare function restoreCheckpoint(config: string, location: string, name: string, trust: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Removes all blocks above a height of the main chain. Resolves with `{"from","to","hash"}`: the heads before and after. */
export declare function rewindChain(to: number): Promise<string>

/** Answers `rsk_flush`. */
export declare function rskFlush(deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `rsk_getRawBlockHeaderByHash`. */
export declare function rskGetRawBlockHeaderByHash(hash: string): string | Buffer

/** Answers `rsk_getRawBlockHeaderByNumber`. */
export declare function rskGetRawBlockHeaderByNumber(block: string): string | Buffer

/** Answers `rsk_getRawTransactionReceiptByHash`. */
export declare function rskGetRawTransactionReceiptByHash(hash: string): string | Buffer

/** Answers `rsk_getStorageBytesAt`. */
export declare function rskGetStorageBytesAt(address: string, position: string, block: string): string | Buffer | Promise<string | Buffer>

/** Answers `rsk_getTransactionReceiptNodesByHash`. */
export declare function rskGetTransactionReceiptNodesByHash(block: string, transaction: string): string | Buffer

/** Writes the state of the head to a state file. */
export declare function saveStateFile(path: string): Promise<string | Buffer>

/** Answers `sco_banAddress`. */
export declare function scoBanAddress(address: string): string | Buffer

/** Answers `sco_bannedAddresses`. */
export declare function scoBannedAddresses(): string | Buffer

/** Answers `sco_clearPeerScoring`. */
export declare function scoClearPeerScoring(peer: string): string | Buffer

/** Answers `sco_peerList`. */
export declare function scoPeerList(): string | Buffer

/** Answers `sco_reputationSummary`. */
export declare function scoReputationSummary(): string | Buffer

/** Answers `sco_unbanAddress`. */
export declare function scoUnbanAddress(address: string): string | Buffer

/** Settles some of the answers of this thread. Returns false if no further answer waits. */
export declare function settleAnswers(): boolean

/**
 * Sets the array in which this thread writes the owner of its next request: app (0: none), connection, and 1 for a request of a
 * batch; and the function that returns the network of the client, which is called for executions in the pool only. Later calls have
 * no effect.
 */
export declare function shareOwner(owner: Uint32Array, client: () => string): void

/** Joins a body and returns where its requests are, as JSON: see `answers/src/body.rs`. */
export declare function splitBody(body: object, mostRequests: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Joins a fleet. Takes settings as JSON. A server that is away is no failure. */
export declare function startFleet(config: string): void

/** Opens the port for peers and dials. Takes settings as JSON, returns the result of `admin_nodeInfo`. */
export declare function startNetwork(config: string): string | Buffer

/** Stores an encrypted key and unlocks its account. Returns the address. */
export declare function storeKey(key: string, encrypted: string): string | Buffer

/** Returns the height of the block of a tag. */
export declare function taggedHeight(tag: string): number

/** Returns the processor time of the calling thread in milliseconds. Null on systems where it is not known. */
export declare function threadCpuMs(): number | null

/** Answers `trace_block`. */
export declare function traceBlock(block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_call`. */
export declare function traceCall(call: string | object, types: string, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_callMany`. */
export declare function traceCallMany(calls: string | object, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_filter`. */
export declare function traceFilter(filter: string | object, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_get`. */
export declare function traceGet(hash: string, position: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_rawTransaction`. */
export declare function traceRawTransaction(data: string | object, types: string, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_replayBlockTransactions`. */
export declare function traceReplayBlockTransactions(block: string, types: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_replayTransaction`. */
export declare function traceReplayTransaction(hash: string, types: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `trace_transaction`. */
export declare function traceTransaction(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** Returns the sender of a transaction to send, as JSON: an address or null. */
export declare function transactionSender(transaction: string | object): string | Buffer

/** Answers `txpool_content` with at most `max_bytes`. */
export declare function txpoolContent(maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `txpool_contentFrom` with at most `max_bytes`. */
export declare function txpoolContentFrom(address: string, maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `txpool_inspect` with at most `max_bytes`. */
export declare function txpoolInspect(maxBytes: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Answers `txpool_status`. */
export declare function txpoolStatus(): string | Buffer

/** Lifts a ban. Returns whether there was one. */
export declare function unbanPeer(target: string): string

/**
 * Verifies an archive without a node. `config` names the network like that of `openNode`. Calls `onProgress(null, json)` for every
 * 256 blocks with `{number, last}`. Resolves with `{"blocks","files","last","publisher"}`.
 */
export declare function verifyArchive(config: string, location: string, trust: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Executes the main chain from one height to another again, unless one is null, and compares, if `has_state`, the trie and the flat
 * state of the head. Calls `onProgress(null, json)` for each valid block with `{number, hash}`, then periodically with `{keys, share}`.
 * Resolves with `{"from"?,"to"?,"blocks","keys"?,"difference"}`: the difference is null or
 * `{"number","hash","field","expected","got"}`, or `"partial":true` replaces it if the node was closed meanwhile.
 */
export declare function verifyBlocks(from: number | undefined | null, to: number | undefined | null, hasState: boolean, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/**
 * Reads all of a checkpoint and compares it with its hashes. `name`: empty for the latest. Calls `onProgress(null, json)` with
 * `{done, total}` in bytes. Resolves with the checkpoint as `listCheckpoints` does.
 */
export declare function verifyCheckpoint(location: string, name: string, trust: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Answers `web3_clientVersion`. */
export declare function web3ClientVersion(): string | Buffer

/** Answers `web3_sha3`. Answers on the caller's thread if the text is short. */
export declare function web3Sha3(data: string | object, deadlineMs: number, token: number): string | Buffer | Promise<string | Buffer>
