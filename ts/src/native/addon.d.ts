// Generated from crates/addon by crates/addon/typings.mjs. Do not edit.

/** Copies a piece to the end of a body. */
export declare function addToBody(body: object, piece: Uint8Array): void

/** The address of a key, if this node can keep it. */
export declare function addressOfKey(key: string): string | Buffer

/** `anvil_autoImpersonateAccount`. */
export declare function anvilAutoImpersonateAccount(isOn: boolean): string | Buffer

/** `anvil_dropAllTransactions`. */
export declare function anvilDropAllTransactions(): string | Buffer

/** `anvil_nodeInfo`. */
export declare function anvilNodeInfo(): string | Buffer

/** `anvil_removeBlockTimestampInterval`. */
export declare function anvilRemoveBlockTimestampInterval(): string | Buffer

/** `anvil_removePoolTransactions`. */
export declare function anvilRemovePoolTransactions(sender: string): string | Buffer

/** `anvil_setBlockTimestampInterval`. */
export declare function anvilSetBlockTimestampInterval(seconds: number): string | Buffer

/** `anvil_setLoggingEnabled`. */
export declare function anvilSetLoggingEnabled(isOn: boolean): string | Buffer

/** Returns a copy of a part of a body that was split, in bytes. */
export declare function bodyBytes(body: object, start: number, end: number): Buffer

/** Returns a part of a body that was split. The range, in bytes, begins and ends between characters. */
export declare function bodyText(body: object, start: number, end: number): string

/** Ends the execution of a cancellation token. Does nothing if it has ended. */
export declare function cancelExecution(token: number): void

/** Frees the memory of a body. */
export declare function closeBody(body: object): void

/** Ends running work, writes everything to disk and closes the database. Another node may be opened then. */
export declare function closeNode(): Promise<string>

/** `debug_accountTransactionQuota`. */
export declare function debugAccountTransactionQuota(address: string): string | Buffer

/** `debug_getRawBlock`. */
export declare function debugGetRawBlock(block: string): string | Buffer

/** `debug_getRawHeader`. */
export declare function debugGetRawHeader(block: string): string | Buffer

/** `debug_getRawReceipts`. */
export declare function debugGetRawReceipts(block: string): string | Buffer

/** `debug_traceBlockByHash` and `debug_traceBlockByNumber`. */
export declare function debugTraceBlock(block: string, options: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `debug_traceCall`. */
export declare function debugTraceCall(call: string | Buffer, block: string, options: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `debug_traceTransaction`. */
export declare function debugTraceTransaction(hash: string, options: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `debug_wireProtocolQueueSize`. */
export declare function debugWireProtocolQueueSize(): string | Buffer

/** The encrypted key of a stored account, or null. */
export declare function encryptedKey(address: string): string | Buffer

/** `eth_accounts`. */
export declare function ethAccounts(): string | Buffer

/** `eth_blockNumber`. */
export declare function ethBlockNumber(): string | Buffer

/** `eth_bridgeState`. */
export declare function ethBridgeState(): string | Buffer

/** `eth_call`. Overrides are JSON objects; empty: none. `may_run_inline`: answered at once if it is short. */
export declare function ethCall(call: string | Buffer, block: string, stateOverrides: string | Buffer, blockOverrides: string | Buffer, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** `eth_chainId`. */
export declare function ethChainId(): string | Buffer

/** `eth_coinbase`. */
export declare function ethCoinbase(): string | Buffer

/** `eth_estimateGas`. Overrides are JSON objects; empty: none. `may_run_inline`: answered at once if it is short. */
export declare function ethEstimateGas(call: string | Buffer, block: string, stateOverrides: string | Buffer, blockOverrides: string | Buffer, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** `eth_feeHistory`. */
export declare function ethFeeHistory(count: string, newest: string, percentiles: Array<number>, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_gasPrice`. */
export declare function ethGasPrice(): string | Buffer

/** `eth_getBalance`. */
export declare function ethGetBalance(address: string, block: string): string | Buffer

/** `eth_getBlockByHash`. */
export declare function ethGetBlockByHash(hash: string, isFull: boolean): string | Buffer

/** `eth_getBlockByNumber`. */
export declare function ethGetBlockByNumber(block: string, isFull: boolean): string | Buffer

/** `eth_getBlockReceipts`. */
export declare function ethGetBlockReceipts(block: string): string | Buffer

/** `eth_getBlockTransactionCountByHash`. */
export declare function ethGetBlockTransactionCountByHash(hash: string): string | Buffer

/** `eth_getBlockTransactionCountByNumber`. */
export declare function ethGetBlockTransactionCountByNumber(block: string): string | Buffer

/** `eth_getBlocksByNumber`. */
export declare function ethGetBlocksByNumber(number: string): string | Buffer

/** `eth_getCode`. */
export declare function ethGetCode(address: string, block: string): string | Buffer

/** `eth_getHeaderByHash`. */
export declare function ethGetHeaderByHash(hash: string): string | Buffer

/** `eth_getHeaderByNumber`. */
export declare function ethGetHeaderByNumber(block: string): string | Buffer

/** `eth_getLogs`. `may_run_inline`: answered at once if few blocks have to be looked at. */
export declare function ethGetLogs(filter: string | Buffer, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** `eth_getProof`. `positions`: numbers in the form of a parameter. `may_run_inline`: answered at once if they are few. */
export declare function ethGetProof(address: string, positions: Array<string>, block: string, deadlineMs: number, token: number, mayRunInline: boolean): string | Buffer | Promise<string | Buffer>

/** `eth_getRawTransactionByBlockHashAndIndex`. */
export declare function ethGetRawTransactionByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** `eth_getRawTransactionByBlockNumberAndIndex`. */
export declare function ethGetRawTransactionByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** `eth_getRawTransactionByHash`. */
export declare function ethGetRawTransactionByHash(hash: string): string | Buffer

/** `eth_getStorageAt`. */
export declare function ethGetStorageAt(address: string, position: string, block: string): string | Buffer

/** `eth_getTransactionByBlockHashAndIndex`. */
export declare function ethGetTransactionByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** `eth_getTransactionByBlockNumberAndIndex`. */
export declare function ethGetTransactionByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** `eth_getTransactionByHash`. */
export declare function ethGetTransactionByHash(hash: string): string | Buffer

/** `eth_getTransactionCount`. */
export declare function ethGetTransactionCount(address: string, block: string): string | Buffer

/** `eth_getTransactionReceipt`. */
export declare function ethGetTransactionReceipt(hash: string): string | Buffer

/** `eth_getUncleByBlockHashAndIndex`. */
export declare function ethGetUncleByBlockHashAndIndex(hash: string, index: number): string | Buffer

/** `eth_getUncleByBlockNumberAndIndex`. */
export declare function ethGetUncleByBlockNumberAndIndex(block: string, index: number): string | Buffer

/** `eth_getUncleCountByBlockHash`. */
export declare function ethGetUncleCountByBlockHash(hash: string): string | Buffer

/** `eth_getUncleCountByBlockNumber`. */
export declare function ethGetUncleCountByBlockNumber(block: string): string | Buffer

/** `eth_getWork`. */
export declare function ethGetWork(deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_hashrate`. */
export declare function ethHashrate(): string | Buffer

/** `eth_maxPriorityFeePerGas`. */
export declare function ethMaxPriorityFeePerGas(): string | Buffer

/** `eth_mining`. */
export declare function ethMining(): string | Buffer

/** `eth_netHashrate`. */
export declare function ethNetHashrate(): string | Buffer

/** `eth_pendingTransactions`. */
export declare function ethPendingTransactions(): string | Buffer

/** `eth_protocolVersion`. */
export declare function ethProtocolVersion(): string | Buffer

/** `eth_sendRawTransaction`. */
export declare function ethSendRawTransaction(data: string | Buffer, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_sendTransaction`. */
export declare function ethSendTransaction(transaction: string | Buffer, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_sendUnsignedTransaction`. */
export declare function ethSendUnsignedTransaction(transaction: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_sign`. */
export declare function ethSign(address: string, data: string | Buffer, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_signTypedData_v4`, of which only the hash comes here. */
export declare function ethSignTypedData(address: string, hash: string): string | Buffer

/** `eth_simulateV1`. */
export declare function ethSimulate(simulation: string | Buffer, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `eth_submitHashrate`. */
export declare function ethSubmitHashrate(): string | Buffer

/** `eth_submitWork`. */
export declare function ethSubmitWork(): string | Buffer

/** `eth_syncing`. */
export declare function ethSyncing(): string | Buffer

/** `evm_increaseTime`. */
export declare function evmIncreaseTime(seconds: number): string | Buffer

/** `evm_mine`. A timestamp below 0 is none. */
export declare function evmMine(blocks: number, timestamp: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** `evm_reset`. */
export declare function evmReset(deadlineMs: number, token: number): Promise<string | Buffer>

/** `evm_revert`. */
export declare function evmRevert(id: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** `evm_setAutomine`. */
export declare function evmSetAutomine(isOn: boolean): string | Buffer

/** `evm_setBlockGasLimit`. */
export declare function evmSetBlockGasLimit(gasLimit: string): string | Buffer

/** `evm_setIntervalMining`. */
export declare function evmSetIntervalMining(milliseconds: number): string | Buffer

/** `evm_setNextBlockTimestamp`. */
export declare function evmSetNextBlockTimestamp(timestamp: number): string | Buffer

/** `evm_setTime`. */
export declare function evmSetTime(timestamp: number): string | Buffer

/** `evm_snapshot`. */
export declare function evmSnapshot(): string | Buffer

/** `evm_startMining`. */
export declare function evmStartMining(deadlineMs: number, token: number): Promise<string | Buffer>

/** `evm_stopMining`. */
export declare function evmStopMining(deadlineMs: number, token: number): Promise<string | Buffer>

/**
 * Writes the blocks of the main chain from one height to another. `onProgress(null, json)` is called for each with
 * `{number}`. Resolves with `{"blocks","from","to"}`.
 */
export declare function exportBlocks(path: string, from: number, to: number, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** `hardhat_dropTransaction`. */
export declare function hardhatDropTransaction(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_getAutomine`. */
export declare function hardhatGetAutomine(): string | Buffer

/** `hardhat_impersonateAccount`. */
export declare function hardhatImpersonateAccount(address: string): string | Buffer

/** `hardhat_metadata`. */
export declare function hardhatMetadata(): string | Buffer

/** `hardhat_mine`. An interval below 0 is none. */
export declare function hardhatMine(blocks: number, interval: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_setBalance`. */
export declare function hardhatSetBalance(address: string, balance: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_setCode`. */
export declare function hardhatSetCode(address: string, code: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_setCoinbase`. */
export declare function hardhatSetCoinbase(address: string): string | Buffer

/** `hardhat_setMinGasPrice`. */
export declare function hardhatSetMinGasPrice(price: string): string | Buffer

/** `hardhat_setNonce`. */
export declare function hardhatSetNonce(address: string, nonce: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_setStorageAt`. */
export declare function hardhatSetStorageAt(address: string, position: string, word: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `hardhat_stopImpersonatingAccount`. */
export declare function hardhatStopImpersonatingAccount(address: string): string | Buffer

/** The head: `{"number","hash"}`. */
export declare function headCursor(): string

/** The header of a block as `newHeads` subscriptions show it; `null` for an unknown one. */
export declare function headOfBlock(hash: string): string

/**
 * Imports a file of blocks. `onProgress(null, json)` is called for each block with `{number, hash, stateRoot, result}`.
 * Resolves with counts: `{"blocks","best","side","known","head"}`. `options` is a JSON object, empty so far.
 */
export declare function importBlocks(path: string, options: string, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** Transactions that were left out of a block since the last question: `[{"hash","from","nonce","reason","isDropped"}]`. */
export declare function leftOut(): string

/** The matching logs of blocks (a JSON array of hashes); those of removed blocks backwards and marked. */
export declare function logsOfBlocks(hashes: string, filter: string, isRemoved: boolean): string | Buffer

/** How the main chain moved since a block, in steps of at most `most` new blocks: `{"hashes","removed","cursor"}`. */
export declare function mainHashesSince(number: number, hash: string, most: number): string

/** The logs of a block that one of the filters (a JSON array) takes, each with their positions: `[{"queries","log"}]`. */
export declare function matchingLogs(hash: string, filters: string, isRemoved: boolean): string

/** `mnr_getWork`. */
export declare function mnrGetWork(deadlineMs: number, token: number): Promise<string | Buffer>

/** `mnr_submitBitcoinBlock`. Hex. */
export declare function mnrSubmitBitcoinBlock(block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `mnr_submitBitcoinBlockPartialMerkle`. Hex; the branch with blanks in between. */
export declare function mnrSubmitBitcoinBlockPartialMerkle(header: string, coinbase: string, branch: string, count: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `mnr_submitBitcoinBlockTransactions`. Hex; ids with blanks between them. */
export declare function mnrSubmitBitcoinBlockTransactions(header: string, coinbase: string, ids: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `net_listening`. */
export declare function netListening(): string | Buffer

/** `net_peerCount`. */
export declare function netPeerCount(): string | Buffer

/** `net_peerList`. */
export declare function netPeerList(): string | Buffer

/** `net_version`. */
export declare function netVersion(): string | Buffer

/** What the node measures about itself: head, pool, executors, database. Read from memory. */
export declare function nodeFigures(): string

/** What the node holds: network, chain id, genesis, head, highest block, size on disk. */
export declare function nodeInfo(): string

/**
 * Calls back after the head has changed; changes that follow each other quickly come as one. One listener for each
 * worker: another one replaces it. Does not keep the worker alive.
 */
export declare function onHead(callback: () => void): void

/** The same for transactions that a block left out. */
export declare function onLeftOut(callback: () => void): void

/** The same for transactions that became executable. */
export declare function onPending(callback: () => void): void

/** Opens an empty body. */
export declare function openBody(): object

/** Opens the node of this process. Takes its settings as JSON, returns what `nodeInfo` returns. */
export declare function openNode(config: string): string

/** Transactions that became executable after a position: `{"hashes","position"}`. */
export declare function pendingHashesSince(position: number): string

/** The position after the last transaction that became executable. */
export declare function pendingPosition(): number

/** `personal_dumpRawKey`. */
export declare function personalDumpRawKey(address: string): string | Buffer

/** `personal_ecRecover`. */
export declare function personalEcRecover(data: string, signature: string): string | Buffer

/** `personal_listAccounts`. */
export declare function personalListAccounts(): string | Buffer

/** `personal_lockAccount`. */
export declare function personalLockAccount(address: string): string | Buffer

/** `personal_newAccountWithSeed`. */
export declare function personalNewAccountWithSeed(seed: string): string | Buffer

/** `personal_sendTransaction` with a decrypted key. */
export declare function personalSendTransaction(transaction: string | Buffer, key: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `personal_sign` with a decrypted key. */
export declare function personalSign(data: string, key: string): string | Buffer

/** Unlocks a stored account with its decrypted key. */
export declare function personalUnlockAccount(address: string, key: string, milliseconds: number): string | Buffer

/** Whether what happens on the chain may be printed. */
export declare function printsChain(): boolean

/** Removes all blocks above a height of the main chain. Resolves with `{"from","to","hash"}`: the heads before and after. */
export declare function rewindChain(to: number): Promise<string>

/** `rsk_flush`. */
export declare function rskFlush(deadlineMs: number, token: number): Promise<string | Buffer>

/** `rsk_getRawBlockHeaderByHash`. */
export declare function rskGetRawBlockHeaderByHash(hash: string): string | Buffer

/** `rsk_getRawBlockHeaderByNumber`. */
export declare function rskGetRawBlockHeaderByNumber(block: string): string | Buffer

/** `rsk_getRawTransactionReceiptByHash`. */
export declare function rskGetRawTransactionReceiptByHash(hash: string): string | Buffer

/** `rsk_getStorageBytesAt`. */
export declare function rskGetStorageBytesAt(address: string, position: string, block: string): string | Buffer

/** `rsk_getTransactionReceiptNodesByHash`. */
export declare function rskGetTransactionReceiptNodesByHash(block: string, transaction: string): string | Buffer

/** `sco_banAddress`. */
export declare function scoBanAddress(address: string): string | Buffer

/** `sco_bannedAddresses`. */
export declare function scoBannedAddresses(): string | Buffer

/** `sco_clearPeerScoring`. */
export declare function scoClearPeerScoring(peer: string): string | Buffer

/** `sco_peerList`. */
export declare function scoPeerList(): string | Buffer

/** `sco_reputationSummary`. */
export declare function scoReputationSummary(): string | Buffer

/** `sco_unbanAddress`. */
export declare function scoUnbanAddress(address: string): string | Buffer

/** Hands over where this thread writes on whose account it asks: the app (0: none) and the connection. The first call counts. */
export declare function shareOwner(cells: Uint32Array): void

/** Joins a body and returns where its requests are, as JSON: see `answers/src/body.rs`. */
export declare function splitBody(body: object, mostRequests: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** Keeps an encrypted key and unlocks its account; the address. */
export declare function storeKey(key: string, encrypted: string): string | Buffer

/** `trace_block`. */
export declare function traceBlock(block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_call`. */
export declare function traceCall(call: string | Buffer, types: string, block: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_filter`. */
export declare function traceFilter(filter: string | Buffer, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_get`. */
export declare function traceGet(hash: string, position: number, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_replayBlockTransactions`. */
export declare function traceReplayBlockTransactions(block: string, types: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_replayTransaction`. */
export declare function traceReplayTransaction(hash: string, types: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `trace_transaction`. */
export declare function traceTransaction(hash: string, deadlineMs: number, token: number): Promise<string | Buffer>

/** `txpool_content`. */
export declare function txpoolContent(deadlineMs: number, token: number): Promise<string | Buffer>

/** `txpool_inspect`. */
export declare function txpoolInspect(deadlineMs: number, token: number): Promise<string | Buffer>

/** `txpool_status`. */
export declare function txpoolStatus(): string | Buffer

/**
 * Executes the main chain from one height to another again and compares the head's state in its two forms.
 * `onProgress(null, json)` is called for each good block with `{number, hash}`, then from time to time with `{keys}`.
 * Resolves with `{"from","to","blocks","keys","difference"}`: the difference is null or
 * `{"number","hash","field","expected","got"}`.
 */
export declare function verifyBlocks(from: number, to: number, onProgress: (error: Error | null, progress: string) => void): Promise<string>

/** `web3_clientVersion`. */
export declare function web3ClientVersion(): string | Buffer

/** `web3_sha3`. Answered at once when the text is short. */
export declare function web3Sha3(data: string | Buffer, deadlineMs: number, token: number): string | Buffer | Promise<string | Buffer>
