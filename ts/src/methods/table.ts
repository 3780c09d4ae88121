import type { MethodSpec } from '../rpc/dispatch.ts'
import type { Method } from '../rpc/method.ts'
import { admin_addPeer } from './admin_addPeer.ts'
import { admin_nodeInfo } from './admin_nodeInfo.ts'
import { admin_peers } from './admin_peers.ts'
import { admin_removePeer } from './admin_removePeer.ts'
import { anvil_autoImpersonateAccount } from './anvil_autoImpersonateAccount.ts'
import { anvil_dropAllTransactions } from './anvil_dropAllTransactions.ts'
import { anvil_dumpState } from './anvil_dumpState.ts'
import { anvil_loadState } from './anvil_loadState.ts'
import { anvil_nodeInfo } from './anvil_nodeInfo.ts'
import { anvil_removeBlockTimestampInterval } from './anvil_removeBlockTimestampInterval.ts'
import { anvil_removePoolTransactions } from './anvil_removePoolTransactions.ts'
import { anvil_reorg } from './anvil_reorg.ts'
import { anvil_rollback } from './anvil_rollback.ts'
import { anvil_setBlockTimestampInterval } from './anvil_setBlockTimestampInterval.ts'
import { anvil_setLoggingEnabled } from './anvil_setLoggingEnabled.ts'
import { anvil_setRpcUrl } from './anvil_setRpcUrl.ts'
import type { Context } from './context.ts'
import {
  addressAt,
  bundledAt,
  calledAt,
  fed,
  keysAt,
  loggedAt,
  rewritten,
  sentAt,
  simulatedAt,
  subscribed,
  tracedAt,
  tracedCallAt,
  tracedCallsAt,
} from './contracts.ts'
import { debug_accountTransactionQuota } from './debug_accountTransactionQuota.ts'
import { debug_getRawBlock } from './debug_getRawBlock.ts'
import { debug_getRawHeader } from './debug_getRawHeader.ts'
import { debug_getRawReceipts } from './debug_getRawReceipts.ts'
import { debug_storageRangeAt } from './debug_storageRangeAt.ts'
import { debug_traceBlock } from './debug_traceBlock.ts'
import { debug_traceBlockByHash } from './debug_traceBlockByHash.ts'
import { debug_traceBlockByNumber } from './debug_traceBlockByNumber.ts'
import { debug_traceCall } from './debug_traceCall.ts'
import { debug_traceTransaction } from './debug_traceTransaction.ts'
import { debug_wireProtocolQueueSize } from './debug_wireProtocolQueueSize.ts'
import { eth_accounts } from './eth_accounts.ts'
import { eth_blockNumber } from './eth_blockNumber.ts'
import { eth_bridgeState } from './eth_bridgeState.ts'
import { eth_call } from './eth_call.ts'
import { eth_callMany } from './eth_callMany.ts'
import { eth_capabilities } from './eth_capabilities.ts'
import { eth_chainId } from './eth_chainId.ts'
import { eth_coinbase } from './eth_coinbase.ts'
import { eth_config } from './eth_config.ts'
import { eth_estimateGas } from './eth_estimateGas.ts'
import { eth_feeHistory } from './eth_feeHistory.ts'
import { eth_fillTransaction } from './eth_fillTransaction.ts'
import { eth_gasPrice } from './eth_gasPrice.ts'
import { eth_getBalance } from './eth_getBalance.ts'
import { eth_getBlockByHash } from './eth_getBlockByHash.ts'
import { eth_getBlockByNumber } from './eth_getBlockByNumber.ts'
import { eth_getBlockReceipts } from './eth_getBlockReceipts.ts'
import { eth_getBlocksByNumber } from './eth_getBlocksByNumber.ts'
import { eth_getBlockTransactionCountByHash } from './eth_getBlockTransactionCountByHash.ts'
import { eth_getBlockTransactionCountByNumber } from './eth_getBlockTransactionCountByNumber.ts'
import { eth_getCode } from './eth_getCode.ts'
import { eth_getFilterChanges } from './eth_getFilterChanges.ts'
import { eth_getFilterLogs } from './eth_getFilterLogs.ts'
import { eth_getHeaderByHash } from './eth_getHeaderByHash.ts'
import { eth_getHeaderByNumber } from './eth_getHeaderByNumber.ts'
import { eth_getLogs } from './eth_getLogs.ts'
import { eth_getProof } from './eth_getProof.ts'
import { eth_getRawTransactionByBlockHashAndIndex } from './eth_getRawTransactionByBlockHashAndIndex.ts'
import { eth_getRawTransactionByBlockNumberAndIndex } from './eth_getRawTransactionByBlockNumberAndIndex.ts'
import { eth_getRawTransactionByHash } from './eth_getRawTransactionByHash.ts'
import { eth_getStorageAt } from './eth_getStorageAt.ts'
import { eth_getStorageValues } from './eth_getStorageValues.ts'
import { eth_getTransactionByBlockHashAndIndex } from './eth_getTransactionByBlockHashAndIndex.ts'
import { eth_getTransactionByBlockNumberAndIndex } from './eth_getTransactionByBlockNumberAndIndex.ts'
import { eth_getTransactionByHash } from './eth_getTransactionByHash.ts'
import { eth_getTransactionBySenderAndNonce } from './eth_getTransactionBySenderAndNonce.ts'
import { eth_getTransactionCount } from './eth_getTransactionCount.ts'
import { eth_getTransactionReceipt } from './eth_getTransactionReceipt.ts'
import { eth_getUncleByBlockHashAndIndex } from './eth_getUncleByBlockHashAndIndex.ts'
import { eth_getUncleByBlockNumberAndIndex } from './eth_getUncleByBlockNumberAndIndex.ts'
import { eth_getUncleCountByBlockHash } from './eth_getUncleCountByBlockHash.ts'
import { eth_getUncleCountByBlockNumber } from './eth_getUncleCountByBlockNumber.ts'
import { eth_getWork } from './eth_getWork.ts'
import { eth_hashrate } from './eth_hashrate.ts'
import { eth_maxPriorityFeePerGas } from './eth_maxPriorityFeePerGas.ts'
import { eth_mining } from './eth_mining.ts'
import { eth_netHashrate } from './eth_netHashrate.ts'
import { eth_newBlockFilter } from './eth_newBlockFilter.ts'
import { eth_newFilter } from './eth_newFilter.ts'
import { eth_newPendingTransactionFilter } from './eth_newPendingTransactionFilter.ts'
import { eth_pendingTransactions } from './eth_pendingTransactions.ts'
import { eth_protocolVersion } from './eth_protocolVersion.ts'
import { eth_sendRawTransaction } from './eth_sendRawTransaction.ts'
import { eth_sendRawTransactionSync } from './eth_sendRawTransactionSync.ts'
import { eth_sendTransaction } from './eth_sendTransaction.ts'
import { eth_sendUnsignedTransaction } from './eth_sendUnsignedTransaction.ts'
import { eth_sign } from './eth_sign.ts'
import { eth_signTypedData_v4 } from './eth_signTypedData_v4.ts'
import { eth_simulateV1 } from './eth_simulateV1.ts'
import { eth_submitHashrate } from './eth_submitHashrate.ts'
import { eth_submitWork } from './eth_submitWork.ts'
import { eth_subscribe } from './eth_subscribe.ts'
import { eth_syncing } from './eth_syncing.ts'
import { eth_uninstallFilter } from './eth_uninstallFilter.ts'
import { eth_unsubscribe } from './eth_unsubscribe.ts'
import { evm_increaseTime } from './evm_increaseTime.ts'
import { evm_mine } from './evm_mine.ts'
import { evm_reset } from './evm_reset.ts'
import { evm_revert } from './evm_revert.ts'
import { evm_setAutomine } from './evm_setAutomine.ts'
import { evm_setBlockGasLimit } from './evm_setBlockGasLimit.ts'
import { evm_setIntervalMining } from './evm_setIntervalMining.ts'
import { evm_setNextBlockTimestamp } from './evm_setNextBlockTimestamp.ts'
import { evm_setTime } from './evm_setTime.ts'
import { evm_snapshot } from './evm_snapshot.ts'
import { evm_startMining } from './evm_startMining.ts'
import { evm_stopMining } from './evm_stopMining.ts'
import { hardhat_dropTransaction } from './hardhat_dropTransaction.ts'
import { hardhat_getAutomine } from './hardhat_getAutomine.ts'
import { hardhat_impersonateAccount } from './hardhat_impersonateAccount.ts'
import { hardhat_metadata } from './hardhat_metadata.ts'
import { hardhat_mine } from './hardhat_mine.ts'
import { hardhat_reset } from './hardhat_reset.ts'
import { hardhat_setBalance } from './hardhat_setBalance.ts'
import { hardhat_setBlockTimestampInterval } from './hardhat_setBlockTimestampInterval.ts'
import { hardhat_setCode } from './hardhat_setCode.ts'
import { hardhat_setCoinbase } from './hardhat_setCoinbase.ts'
import { hardhat_setMinGasPrice } from './hardhat_setMinGasPrice.ts'
import { hardhat_setNextBlockBaseFeePerGas } from './hardhat_setNextBlockBaseFeePerGas.ts'
import { hardhat_setNonce } from './hardhat_setNonce.ts'
import { hardhat_setPrevRandao } from './hardhat_setPrevRandao.ts'
import { hardhat_setStorageAt } from './hardhat_setStorageAt.ts'
import { hardhat_stopImpersonatingAccount } from './hardhat_stopImpersonatingAccount.ts'
import { miner_start } from './miner_start.ts'
import { miner_stop } from './miner_stop.ts'
import { mnr_getWork } from './mnr_getWork.ts'
import { mnr_submitBitcoinBlock } from './mnr_submitBitcoinBlock.ts'
import { mnr_submitBitcoinBlockPartialMerkle } from './mnr_submitBitcoinBlockPartialMerkle.ts'
import { mnr_submitBitcoinBlockTransactions } from './mnr_submitBitcoinBlockTransactions.ts'
import { net_listening } from './net_listening.ts'
import { net_peerCount } from './net_peerCount.ts'
import { net_peerList } from './net_peerList.ts'
import { net_version } from './net_version.ts'
import { ots_getApiLevel } from './ots_getApiLevel.ts'
import { ots_getBlockDetails } from './ots_getBlockDetails.ts'
import { ots_getBlockDetailsByHash } from './ots_getBlockDetailsByHash.ts'
import { ots_getBlockTransactions } from './ots_getBlockTransactions.ts'
import { ots_getContractCreator } from './ots_getContractCreator.ts'
import { ots_getHeaderByNumber } from './ots_getHeaderByNumber.ts'
import { ots_getInternalOperations } from './ots_getInternalOperations.ts'
import { ots_getTransactionBySenderAndNonce } from './ots_getTransactionBySenderAndNonce.ts'
import { ots_getTransactionError } from './ots_getTransactionError.ts'
import { ots_hasCode } from './ots_hasCode.ts'
import { ots_searchTransactionsAfter } from './ots_searchTransactionsAfter.ts'
import { ots_searchTransactionsBefore } from './ots_searchTransactionsBefore.ts'
import { ots_traceTransaction } from './ots_traceTransaction.ts'
import { personal_dumpRawKey } from './personal_dumpRawKey.ts'
import { personal_ecRecover } from './personal_ecRecover.ts'
import { personal_importRawKey } from './personal_importRawKey.ts'
import { personal_listAccounts } from './personal_listAccounts.ts'
import { personal_lockAccount } from './personal_lockAccount.ts'
import { personal_newAccount } from './personal_newAccount.ts'
import { personal_newAccountWithSeed } from './personal_newAccountWithSeed.ts'
import { personal_sendTransaction } from './personal_sendTransaction.ts'
import { personal_sign } from './personal_sign.ts'
import { personal_unlockAccount } from './personal_unlockAccount.ts'
import { rhizome_subscribe } from './rhizome_subscribe.ts'
import { rhizome_unsubscribe } from './rhizome_unsubscribe.ts'
import { rpc_discover } from './rpc_discover.ts'
import { rpc_modules } from './rpc_modules.ts'
import { rsk_flush } from './rsk_flush.ts'
import { rsk_getRawBlockHeaderByHash } from './rsk_getRawBlockHeaderByHash.ts'
import { rsk_getRawBlockHeaderByNumber } from './rsk_getRawBlockHeaderByNumber.ts'
import { rsk_getRawTransactionReceiptByHash } from './rsk_getRawTransactionReceiptByHash.ts'
import { rsk_getStorageBytesAt } from './rsk_getStorageBytesAt.ts'
import { rsk_getTransactionReceiptNodesByHash } from './rsk_getTransactionReceiptNodesByHash.ts'
import { rsk_shutdown } from './rsk_shutdown.ts'
import { sco_banAddress } from './sco_banAddress.ts'
import { sco_bannedAddresses } from './sco_bannedAddresses.ts'
import { sco_clearPeerScoring } from './sco_clearPeerScoring.ts'
import { sco_peerList } from './sco_peerList.ts'
import { sco_reputationSummary } from './sco_reputationSummary.ts'
import { sco_unbanAddress } from './sco_unbanAddress.ts'
import { trace_block } from './trace_block.ts'
import { trace_call } from './trace_call.ts'
import { trace_callMany } from './trace_callMany.ts'
import { trace_filter } from './trace_filter.ts'
import { trace_get } from './trace_get.ts'
import { trace_rawTransaction } from './trace_rawTransaction.ts'
import { trace_replayBlockTransactions } from './trace_replayBlockTransactions.ts'
import { trace_replayTransaction } from './trace_replayTransaction.ts'
import { trace_transaction } from './trace_transaction.ts'
import { txpool_content } from './txpool_content.ts'
import { txpool_contentFrom } from './txpool_contentFrom.ts'
import { txpool_inspect } from './txpool_inspect.ts'
import { txpool_status } from './txpool_status.ts'
import { web3_clientVersion } from './web3_clientVersion.ts'
import { web3_sha3 } from './web3_sha3.ts'

type Facts = Omit<MethodSpec<Context>, 'method'>

function spec(method: Method<Context>, facts: Facts): MethodSpec<Context> {
  return { ...facts, method }
}

/** Specs of all methods. */
export const table: readonly MethodSpec<Context>[] = [
  spec(web3_clientVersion, {
    name: 'web3_clientVersion',
    module: 'web3',
    cost: 1,
    doc: 'Product, version, platform and runtime of this node.',
  }),
  spec(web3_sha3, { name: 'web3_sha3', module: 'web3', cost: 1, doc: 'Keccak-256 of bytes.' }),
  spec(net_version, { name: 'net_version', module: 'net', cost: 1, doc: 'Network id as decimal text.' }),
  spec(net_listening, {
    name: 'net_listening',
    module: 'net',
    cost: 1,
    doc: 'Whether a port for peers is open.',
  }),
  spec(net_peerCount, {
    name: 'net_peerCount',
    module: 'net',
    cost: 1,
    doc: 'Number of connected peers.',
  }),
  spec(net_peerList, { name: 'net_peerList', module: 'net', cost: 1, doc: 'Connected peers.' }),
  spec(rpc_modules, {
    name: 'rpc_modules',
    module: 'rpc',
    cost: 1,
    doc: 'Modules that may be used, with their versions.',
  }),
  spec(rpc_discover, {
    name: 'rpc_discover',
    alias: 'rpc.discover',
    module: 'rpc',
    cost: 5,
    answerBytes: (context) => context.discover().length,
    doc: 'The served methods as an OpenRPC document.',
  }),
  spec(eth_protocolVersion, {
    name: 'eth_protocolVersion',
    alias: 'rsk_protocolVersion',
    module: 'eth',
    cost: 1,
    doc: 'Highest version of the peer protocol.',
  }),
  spec(eth_chainId, {
    name: 'eth_chainId',
    module: 'eth',
    cost: 1,
    doc: 'Chain id that signatures carry.',
  }),
  spec(eth_config, {
    name: 'eth_config',
    module: 'eth',
    cost: 1,
    doc: 'Rules of the current, the next and the last known upgrade.',
  }),
  spec(eth_capabilities, {
    name: 'eth_capabilities',
    module: 'eth',
    cost: 1,
    doc: 'The oldest blocks and states that this node has.',
  }),
  spec(eth_syncing, {
    name: 'eth_syncing',
    module: 'eth',
    cost: 1,
    doc: 'Progress of synchronisation, or false.',
  }),
  spec(eth_coinbase, {
    name: 'eth_coinbase',
    module: 'eth',
    cost: 1,
    doc: 'Address that receives the rewards of mined blocks.',
  }),
  spec(eth_mining, {
    name: 'eth_mining',
    module: 'eth',
    cost: 1,
    doc: 'Whether the node mines on its own.',
  }),
  spec(eth_hashrate, {
    name: 'eth_hashrate',
    module: 'eth',
    cost: 1,
    doc: 'Hashes a second of the own miner.',
  }),
  spec(eth_gasPrice, {
    name: 'eth_gasPrice',
    module: 'eth',
    cost: 1,
    doc: 'A gas price that gets into the next block, in wei.',
  }),
  spec(eth_accounts, {
    name: 'eth_accounts',
    module: 'eth',
    cost: 1,
    doc: 'Addresses that this node signs for.',
  }),
  spec(eth_blockNumber, {
    name: 'eth_blockNumber',
    module: 'eth',
    cost: 1,
    doc: 'Height of the best block.',
  }),
  spec(eth_getBalance, {
    name: 'eth_getBalance',
    module: 'eth',
    cost: 1,
    contracts: addressAt(0),
    doc: 'Balance of an account, in wei.',
  }),
  spec(eth_getTransactionCount, {
    name: 'eth_getTransactionCount',
    module: 'eth',
    cost: 1,
    doc: 'Number of transactions sent from an account: the next nonce.',
  }),
  spec(eth_getCode, {
    name: 'eth_getCode',
    module: 'eth',
    cost: 1,
    contracts: addressAt(0),
    doc: 'Code of a contract.',
  }),
  spec(eth_getStorageAt, {
    name: 'eth_getStorageAt',
    module: 'eth',
    cost: 1,
    contracts: addressAt(0),
    doc: 'A storage slot of a contract.',
  }),
  spec(eth_getStorageValues, {
    name: 'eth_getStorageValues',
    module: 'eth',
    cost: 20,
    contracts: keysAt(0),
    doc: 'Storage slots of several contracts.',
  }),
  spec(eth_getBlockByHash, {
    name: 'eth_getBlockByHash',
    module: 'eth',
    cost: 2,
    doc: 'A block by its hash, with transaction hashes or whole transactions.',
  }),
  spec(eth_getBlockByNumber, {
    name: 'eth_getBlockByNumber',
    module: 'eth',
    cost: 2,
    doc: 'A block by its height or a tag.',
  }),
  spec(eth_getBlocksByNumber, {
    name: 'eth_getBlocksByNumber',
    module: 'eth',
    cost: 1,
    doc: 'Every block known at a height, also off the main chain.',
  }),
  spec(eth_getBlockTransactionCountByHash, {
    name: 'eth_getBlockTransactionCountByHash',
    module: 'eth',
    cost: 1,
    doc: 'Number of transactions in a block.',
  }),
  spec(eth_getBlockTransactionCountByNumber, {
    name: 'eth_getBlockTransactionCountByNumber',
    module: 'eth',
    cost: 1,
    doc: 'Number of transactions in a block.',
  }),
  spec(eth_getUncleCountByBlockHash, {
    name: 'eth_getUncleCountByBlockHash',
    module: 'eth',
    cost: 1,
    doc: 'Number of uncles of a block.',
  }),
  spec(eth_getUncleCountByBlockNumber, {
    name: 'eth_getUncleCountByBlockNumber',
    module: 'eth',
    cost: 1,
    doc: 'Number of uncles of a block.',
  }),
  spec(eth_getUncleByBlockHashAndIndex, {
    name: 'eth_getUncleByBlockHashAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'An uncle of a block.',
  }),
  spec(eth_getUncleByBlockNumberAndIndex, {
    name: 'eth_getUncleByBlockNumberAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'An uncle of a block.',
  }),
  spec(eth_getTransactionByHash, {
    name: 'eth_getTransactionByHash',
    module: 'eth',
    cost: 2,
    doc: 'A mined or pending transaction.',
  }),
  spec(eth_getTransactionBySenderAndNonce, {
    name: 'eth_getTransactionBySenderAndNonce',
    module: 'eth',
    cost: 10,
    doc: 'A mined or pending transaction of a sender.',
  }),
  spec(eth_getTransactionByBlockHashAndIndex, {
    name: 'eth_getTransactionByBlockHashAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'A transaction of a block.',
  }),
  spec(eth_getTransactionByBlockNumberAndIndex, {
    name: 'eth_getTransactionByBlockNumberAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'A transaction of a block.',
  }),
  spec(eth_getTransactionReceipt, {
    name: 'eth_getTransactionReceipt',
    module: 'eth',
    cost: 2,
    doc: 'Outcome of a mined transaction.',
  }),
  spec(eth_getProof, {
    name: 'eth_getProof',
    module: 'eth',
    cost: 10,
    contracts: addressAt(0),
    doc: 'An account and storage slots, with the trie nodes that prove them.',
  }),
  spec(eth_getBlockReceipts, {
    name: 'eth_getBlockReceipts',
    module: 'eth',
    cost: 5,
    doc: 'The receipts of all transactions of a block.',
  }),
  spec(eth_getHeaderByHash, {
    name: 'eth_getHeaderByHash',
    module: 'eth',
    cost: 2,
    doc: 'A block by its hash, without size, transactions and uncles.',
  }),
  spec(eth_getHeaderByNumber, {
    name: 'eth_getHeaderByNumber',
    module: 'eth',
    cost: 2,
    doc: 'A block by its height or a tag, without size, transactions and uncles.',
  }),
  spec(eth_getRawTransactionByHash, {
    name: 'eth_getRawTransactionByHash',
    alias: 'debug_getRawTransaction',
    module: 'eth',
    cost: 2,
    doc: 'The signed bytes of a mined or pending transaction.',
  }),
  spec(eth_getRawTransactionByBlockHashAndIndex, {
    name: 'eth_getRawTransactionByBlockHashAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'The signed bytes of a transaction of a block.',
  }),
  spec(eth_getRawTransactionByBlockNumberAndIndex, {
    name: 'eth_getRawTransactionByBlockNumberAndIndex',
    module: 'eth',
    cost: 2,
    doc: 'The signed bytes of a transaction of a block.',
  }),
  spec(eth_maxPriorityFeePerGas, {
    name: 'eth_maxPriorityFeePerGas',
    module: 'eth',
    cost: 1,
    doc: 'Zero: the minimum gas price gets in.',
  }),
  spec(eth_feeHistory, {
    name: 'eth_feeHistory',
    module: 'eth',
    cost: 10,
    doc: 'Minimum gas prices, ratios of gas used, and prices paid above the minimum.',
  }),
  spec(eth_pendingTransactions, {
    name: 'eth_pendingTransactions',
    module: 'eth',
    cost: 2,
    doc: 'Pending transactions of the accounts of this node.',
  }),
  spec(eth_call, {
    name: 'eth_call',
    module: 'eth',
    cost: 10,
    contracts: calledAt(0, 2),
    doc: 'Executes a call without a transaction.',
  }),
  spec(eth_callMany, {
    name: 'eth_callMany',
    module: 'eth',
    cost: 100,
    contracts: bundledAt(0, 2),
    doc: 'Executes bundles of calls one after another without transactions.',
  }),
  spec(eth_estimateGas, {
    name: 'eth_estimateGas',
    module: 'eth',
    cost: 10,
    contracts: calledAt(0, 2),
    doc: 'Gas that a transaction needs.',
  }),
  spec(eth_fillTransaction, {
    name: 'eth_fillTransaction',
    module: 'eth',
    cost: 10,
    contracts: calledAt(0),
    doc: 'A transaction with nonce, gas and gas price, not signed.',
  }),
  spec(eth_getLogs, {
    name: 'eth_getLogs',
    module: 'eth',
    cost: 20,
    contracts: loggedAt(0),
    doc: 'Logs by blocks, addresses and topics.',
  }),
  spec(eth_sendRawTransaction, {
    name: 'eth_sendRawTransaction',
    module: 'eth',
    cost: 10,
    contracts: sentAt(0),
    isWrite: true,
    doc: 'Submits a signed transaction.',
  }),
  spec(eth_sendRawTransactionSync, {
    name: 'eth_sendRawTransactionSync',
    module: 'eth',
    cost: 20,
    contracts: sentAt(0),
    isWrite: true,
    doc: 'Submits a signed transaction and waits for its receipt.',
  }),
  spec(eth_sendTransaction, {
    name: 'eth_sendTransaction',
    needsAccounts: true,
    module: 'eth',
    cost: 10,
    contracts: calledAt(0),
    isWrite: true,
    doc: 'Signs with an account of this node and submits.',
  }),
  spec(eth_sendUnsignedTransaction, {
    name: 'eth_sendUnsignedTransaction',
    module: 'eth',
    cost: 10,
    contracts: calledAt(0),
    needsAccounts: true,
    isForDevelopment: true,
    isWrite: true,
    doc: 'Sends as any address, without its key.',
  }),
  spec(eth_sign, {
    name: 'eth_sign',
    needsAccounts: true,
    module: 'eth',
    cost: 5,
    doc: 'Signs a message with an account of this node.',
  }),
  spec(eth_newFilter, {
    name: 'eth_newFilter',
    module: 'eth',
    cost: 5,
    contracts: loggedAt(0),
    isWrite: true,
    doc: 'Installs a filter for logs.',
  }),
  spec(eth_newBlockFilter, {
    name: 'eth_newBlockFilter',
    module: 'eth',
    cost: 2,
    isWrite: true,
    doc: 'Installs a filter for new blocks.',
  }),
  spec(eth_newPendingTransactionFilter, {
    name: 'eth_newPendingTransactionFilter',
    module: 'eth',
    cost: 2,
    isWrite: true,
    doc: 'Installs a filter for pending transactions.',
  }),
  spec(eth_getFilterChanges, {
    name: 'eth_getFilterChanges',
    module: 'eth',
    cost: 5,
    isWrite: true,
    doc: 'New results of a filter since its last poll.',
  }),
  spec(eth_getFilterLogs, {
    name: 'eth_getFilterLogs',
    module: 'eth',
    cost: 20,
    doc: 'The result of eth_getLogs for a log filter; for other filters all hashes since the installation.',
  }),
  spec(eth_uninstallFilter, {
    name: 'eth_uninstallFilter',
    module: 'eth',
    cost: 1,
    isWrite: true,
    doc: 'Removes a filter.',
  }),
  spec(eth_subscribe, {
    name: 'eth_subscribe',
    module: 'eth',
    cost: 1,
    contracts: subscribed,
    isForSubscribers: true,
    doc: 'Subscribes a WebSocket connection to new heads, logs or pending transactions.',
  }),
  spec(eth_unsubscribe, {
    name: 'eth_unsubscribe',
    module: 'eth',
    cost: 1,
    isForSubscribers: true,
    doc: 'Ends a subscription of this connection.',
  }),
  spec(rhizome_subscribe, {
    name: 'rhizome_subscribe',
    module: 'rhizome',
    cost: 10,
    contracts: fed,
    isForSubscribers: true,
    doc: 'Begins a change feed on a WebSocket connection: blocks, transactions, receipts, logs, traces and changes of the state from a cursor on, retractions included. Also `GET /feed`.',
  }),
  spec(rhizome_unsubscribe, {
    name: 'rhizome_unsubscribe',
    module: 'rhizome',
    cost: 1,
    isForSubscribers: true,
    doc: 'Ends a change feed of this connection.',
  }),
  spec(evm_snapshot, {
    name: 'evm_snapshot',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Remembers the present head.',
  }),
  spec(evm_revert, {
    name: 'evm_revert',
    module: 'evm',
    cost: 10,
    isWrite: true,
    doc: 'Goes back to a remembered head.',
  }),
  spec(evm_reset, {
    name: 'evm_reset',
    module: 'evm',
    cost: 10,
    isWrite: true,
    doc: 'Goes back to the genesis block.',
  }),
  spec(evm_mine, { name: 'evm_mine', module: 'evm', cost: 10, isWrite: true, doc: 'Mines a block.' }),
  spec(evm_increaseTime, {
    name: 'evm_increaseTime',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Moves the time of the next block forward.',
  }),
  spec(evm_startMining, {
    name: 'evm_startMining',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Lets the node mine.',
  }),
  spec(evm_stopMining, {
    name: 'evm_stopMining',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Stops the node from mining.',
  }),
  spec(eth_simulateV1, {
    name: 'eth_simulateV1',
    module: 'eth',
    cost: 100,
    contracts: simulatedAt(0),
    doc: 'Runs blocks of calls on top of a block, on a state that may be pretended.',
  }),
  spec(eth_signTypedData_v4, {
    name: 'eth_signTypedData_v4',
    needsAccounts: true,
    module: 'eth',
    cost: 50,
    doc: 'Signs structured data (EIP-712) with an account of this node.',
  }),
  spec(evm_setAutomine, {
    name: 'evm_setAutomine',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Whether each submission mines a block.',
  }),
  spec(miner_start, {
    name: 'miner_start',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Ganache: evm_setAutomine with true.',
  }),
  spec(miner_stop, {
    name: 'miner_stop',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Ganache: evm_setAutomine with false.',
  }),
  spec(evm_setIntervalMining, {
    name: 'evm_setIntervalMining',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Time between blocks in milliseconds; 0: none by time.',
  }),
  spec(evm_setNextBlockTimestamp, {
    name: 'evm_setNextBlockTimestamp',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Sets the time of the next block.',
  }),
  spec(evm_setTime, {
    name: 'evm_setTime',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: "Sets the clock of later blocks, in seconds since 1970; by how many seconds it was moved ahead. A time that is not after the head's is refused.",
  }),
  spec(evm_setBlockGasLimit, {
    name: 'evm_setBlockGasLimit',
    module: 'evm',
    cost: 1,
    isWrite: true,
    doc: 'Sets the gas limit that later blocks move toward: each by at most a 1024th, as the rules of the chain want. Less than a block may have is refused.',
  }),
  spec(hardhat_mine, {
    name: 'hardhat_mine',
    alias: 'anvil_mine',
    module: 'hardhat',
    cost: 100,
    isWrite: true,
    doc: 'Mines blocks, some seconds apart.',
  }),
  spec(hardhat_reset, {
    name: 'hardhat_reset',
    alias: 'anvil_reset',
    module: 'hardhat',
    cost: 10,
    isWrite: true,
    doc: 'Goes back to the genesis block. With forking, begins a fork of another chain, or a fork of the same chain at another block.',
  }),
  spec(anvil_setRpcUrl, {
    name: 'anvil_setRpcUrl',
    alias: 'hardhat_setRpcUrl',
    module: 'hardhat',
    cost: 10,
    isWrite: true,
    doc: 'Reads the state of a fork from another node of the same chain from now on.',
  }),
  spec(hardhat_getAutomine, {
    name: 'hardhat_getAutomine',
    alias: 'anvil_getAutomine',
    module: 'hardhat',
    cost: 1,
    doc: 'Whether each submission mines a block.',
  }),
  spec(hardhat_dropTransaction, {
    name: 'hardhat_dropTransaction',
    alias: 'anvil_dropTransaction',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Takes a transaction out of the pool.',
  }),
  spec(hardhat_impersonateAccount, {
    name: 'hardhat_impersonateAccount',
    alias: 'anvil_impersonateAccount',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Lets eth_sendTransaction send as any address.',
  }),
  spec(hardhat_stopImpersonatingAccount, {
    name: 'hardhat_stopImpersonatingAccount',
    alias: 'anvil_stopImpersonatingAccount',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Ends an impersonation.',
  }),
  spec(hardhat_setBalance, {
    name: 'hardhat_setBalance',
    alias: ['anvil_setBalance', 'evm_setAccountBalance'],
    module: 'hardhat',
    cost: 5,
    isWrite: true,
    contracts: addressAt(0),
    doc: 'Gives an account a balance.',
  }),
  spec(hardhat_setCode, {
    name: 'hardhat_setCode',
    alias: ['anvil_setCode', 'evm_setAccountCode'],
    module: 'hardhat',
    cost: 5,
    isWrite: true,
    contracts: rewritten,
    doc: 'Gives an account code.',
  }),
  spec(hardhat_setNonce, {
    name: 'hardhat_setNonce',
    alias: ['anvil_setNonce', 'evm_setAccountNonce'],
    module: 'hardhat',
    cost: 5,
    isWrite: true,
    contracts: addressAt(0),
    doc: 'Gives an account a nonce.',
  }),
  spec(hardhat_setStorageAt, {
    name: 'hardhat_setStorageAt',
    alias: ['anvil_setStorageAt', 'evm_setAccountStorageAt'],
    module: 'hardhat',
    cost: 5,
    isWrite: true,
    contracts: rewritten,
    doc: 'Writes a storage slot.',
  }),
  spec(hardhat_setCoinbase, {
    name: 'hardhat_setCoinbase',
    alias: 'anvil_setCoinbase',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Sets the receiver of the fees of later blocks, until evm_revert goes back behind it.',
  }),
  spec(hardhat_setMinGasPrice, {
    name: 'hardhat_setMinGasPrice',
    alias: 'anvil_setMinGasPrice',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Sets the minimum gas price that later blocks move toward: each by at most a hundredth, as the rules of the chain want.',
  }),
  spec(hardhat_setPrevRandao, {
    name: 'hardhat_setPrevRandao',
    alias: 'anvil_setPrevRandao',
    module: 'hardhat',
    cost: 1,
    doc: 'Does nothing: Rootstock has no random beacon, PREVRANDAO is the difficulty.',
  }),
  spec(hardhat_setNextBlockBaseFeePerGas, {
    name: 'hardhat_setNextBlockBaseFeePerGas',
    alias: 'anvil_setNextBlockBaseFeePerGas',
    module: 'hardhat',
    cost: 1,
    doc: 'Does nothing: Rootstock has no base fee. See hardhat_setMinGasPrice.',
  }),
  spec(hardhat_metadata, {
    name: 'hardhat_metadata',
    alias: 'anvil_metadata',
    module: 'hardhat',
    cost: 5,
    doc: 'Which node this is, and where its chain and its snapshots are.',
  }),
  spec(anvil_nodeInfo, {
    name: 'anvil_nodeInfo',
    module: 'hardhat',
    cost: 1,
    doc: 'Head, upgrade and prices of the node. The base fee is the minimum gas price.',
  }),
  spec(anvil_autoImpersonateAccount, {
    name: 'anvil_autoImpersonateAccount',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Whether eth_sendTransaction sends as any address without its key.',
  }),
  spec(anvil_dropAllTransactions, {
    name: 'anvil_dropAllTransactions',
    alias: 'hardhat_dropAllTransactions',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Empties the pool.',
  }),
  spec(anvil_removePoolTransactions, {
    name: 'anvil_removePoolTransactions',
    module: 'hardhat',
    cost: 5,
    isWrite: true,
    doc: 'Takes all transactions of a sender out of the pool.',
  }),
  spec(anvil_setLoggingEnabled, {
    name: 'anvil_setLoggingEnabled',
    alias: 'hardhat_setLoggingEnabled',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Whether a node on a terminal prints a line for each block and transaction. The log is not changed.',
  }),
  spec(anvil_setBlockTimestampInterval, {
    name: 'anvil_setBlockTimestampInterval',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Puts each later block this number of seconds after its parent, whatever the clock says.',
  }),
  spec(hardhat_setBlockTimestampInterval, {
    name: 'hardhat_setBlockTimestampInterval',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'The same in milliseconds, as the test client of viem sends it in its mode for Hardhat. Parts of seconds are refused.',
  }),
  spec(anvil_removeBlockTimestampInterval, {
    name: 'anvil_removeBlockTimestampInterval',
    alias: 'hardhat_removeBlockTimestampInterval',
    module: 'hardhat',
    cost: 1,
    isWrite: true,
    doc: 'Leaves the times of later blocks to the clock again; whether there was an interval.',
  }),
  spec(anvil_dumpState, {
    name: 'anvil_dumpState',
    alias: 'hardhat_dumpState',
    module: 'hardhat',
    cost: 100,
    isWrite: true,
    doc: 'Accounts of the head in the format of anvil, compressed by gzip, without those of the Bridge and REMASC.',
  }),
  spec(anvil_loadState, {
    name: 'anvil_loadState',
    alias: 'hardhat_loadState',
    module: 'hardhat',
    cost: 100,
    isWrite: true,
    contracts: rewritten,
    doc: 'Writes the accounts of a dumped state of this node or of anvil over those of the head. Blocks are not read.',
  }),
  spec(anvil_rollback, {
    name: 'anvil_rollback',
    module: 'hardhat',
    cost: 10,
    isWrite: true,
    doc: 'Deletes the highest blocks, one if no depth is given, their snapshots, and the pool.',
  }),
  spec(anvil_reorg, {
    name: 'anvil_reorg',
    module: 'hardhat',
    cost: 100,
    isWrite: true,
    doc: 'Replaces the highest blocks by as many new ones, with transactions by the position of their block. An error ends it and restores the old blocks.',
  }),
  spec(personal_listAccounts, {
    name: 'personal_listAccounts',
    module: 'personal',
    cost: 1,
    doc: 'Addresses that this node keeps, locked ones too.',
  }),
  spec(personal_newAccount, {
    name: 'personal_newAccount',
    module: 'personal',
    cost: 500,
    isWrite: true,
    doc: 'Makes an account, stores its key encrypted and unlocks it for half an hour.',
  }),
  spec(personal_newAccountWithSeed, {
    name: 'personal_newAccountWithSeed',
    module: 'personal',
    cost: 1,
    isWrite: true,
    doc: 'Unlocks the account whose key is the hash of a text; it is not stored.',
  }),
  spec(personal_importRawKey, {
    name: 'personal_importRawKey',
    module: 'personal',
    cost: 500,
    isWrite: true,
    doc: 'Stores a private key encrypted and unlocks its account for half an hour.',
  }),
  spec(personal_dumpRawKey, {
    name: 'personal_dumpRawKey',
    module: 'personal',
    cost: 1,
    doc: 'Private key of an unlocked account.',
  }),
  spec(personal_lockAccount, {
    name: 'personal_lockAccount',
    module: 'personal',
    cost: 1,
    isWrite: true,
    doc: 'Forgets the key of an unlocked account.',
  }),
  spec(personal_unlockAccount, {
    name: 'personal_unlockAccount',
    module: 'personal',
    cost: 500,
    isWrite: true,
    doc: 'Unlocks a stored account for a time.',
  }),
  spec(personal_sendTransaction, {
    name: 'personal_sendTransaction',
    module: 'personal',
    cost: 500,
    contracts: calledAt(0),
    isWrite: true,
    doc: 'Signs with a stored account, also a locked one, and submits.',
  }),
  spec(personal_sign, {
    name: 'personal_sign',
    module: 'personal',
    cost: 5,
    doc: 'Signs a message with an account of this node, stored ones by their passphrase.',
  }),
  spec(personal_ecRecover, {
    name: 'personal_ecRecover',
    module: 'personal',
    cost: 1,
    doc: 'Address that signed a message.',
  }),
  spec(eth_getWork, {
    name: 'eth_getWork',
    module: 'eth',
    cost: 2,
    doc: 'Hash and target of the work that mnr_getWork gives.',
  }),
  spec(eth_submitWork, {
    name: 'eth_submitWork',
    module: 'eth',
    cost: 1,
    doc: 'Always false: a solution of merged mining does not fit into its parameters.',
  }),
  spec(eth_submitHashrate, {
    name: 'eth_submitHashrate',
    module: 'eth',
    cost: 1,
    doc: 'Takes note of the hashrate of a miner.',
  }),
  spec(mnr_getWork, {
    name: 'mnr_getWork',
    module: 'mnr',
    cost: 2,
    isWrite: true,
    doc: 'The block that waits for a proof of work.',
  }),
  spec(mnr_submitBitcoinBlock, {
    name: 'mnr_submitBitcoinBlock',
    module: 'mnr',
    cost: 10,
    isWrite: true,
    doc: 'Submits a solution as a whole Bitcoin block.',
  }),
  spec(mnr_submitBitcoinBlockTransactions, {
    name: 'mnr_submitBitcoinBlockTransactions',
    module: 'mnr',
    cost: 10,
    isWrite: true,
    doc: 'Submits a solution as header, coinbase and all transaction ids.',
  }),
  spec(mnr_submitBitcoinBlockPartialMerkle, {
    name: 'mnr_submitBitcoinBlockPartialMerkle',
    module: 'mnr',
    cost: 10,
    isWrite: true,
    doc: 'Submits a solution as header, coinbase and Merkle branch.',
  }),
  spec(rsk_flush, {
    name: 'rsk_flush',
    alias: 'chain_flush',
    isOff: true,
    module: 'rsk',
    cost: 5,
    isWrite: true,
    doc: 'Waits until everything that was written is on the disk.',
  }),
  spec(rsk_shutdown, {
    name: 'rsk_shutdown',
    alias: 'chain_shutdown',
    isOff: true,
    module: 'rsk',
    cost: 1,
    isWrite: true,
    doc: 'Ends the node, after the answer and the running requests.',
  }),
  spec(rsk_getRawBlockHeaderByHash, {
    name: 'rsk_getRawBlockHeaderByHash',
    alias: 'chain_getRawBlockHeaderByHash',
    module: 'rsk',
    cost: 2,
    doc: 'A header without Merkle proof and coinbase transaction.',
  }),
  spec(rsk_getRawBlockHeaderByNumber, {
    name: 'rsk_getRawBlockHeaderByNumber',
    alias: 'chain_getRawBlockHeaderByNumber',
    module: 'rsk',
    cost: 2,
    doc: 'A header without Merkle proof and coinbase transaction.',
  }),
  spec(rsk_getRawTransactionReceiptByHash, {
    name: 'rsk_getRawTransactionReceiptByHash',
    alias: 'chain_getRawTransactionReceiptByHash',
    module: 'rsk',
    cost: 2,
    doc: 'A receipt in the encoding of the receipts trie.',
  }),
  spec(rsk_getTransactionReceiptNodesByHash, {
    name: 'rsk_getTransactionReceiptNodesByHash',
    alias: 'chain_getTransactionReceiptNodesByHash',
    module: 'rsk',
    cost: 5,
    doc: 'The nodes that prove a receipt against its block, leaf first.',
  }),
  spec(rsk_getStorageBytesAt, {
    name: 'rsk_getStorageBytesAt',
    alias: 'chain_getStorageBytesAt',
    isOff: true,
    module: 'rsk',
    cost: 1,
    contracts: addressAt(0),
    doc: 'The stored bytes of a storage slot, of any length.',
  }),
  spec(debug_getRawHeader, {
    name: 'debug_getRawHeader',
    module: 'debug',
    cost: 2,
    doc: 'The full encoding of a header, with what its proof of work is made of.',
  }),
  spec(debug_getRawBlock, {
    name: 'debug_getRawBlock',
    module: 'debug',
    cost: 5,
    doc: 'The full encoding of a block.',
  }),
  spec(debug_getRawReceipts, {
    name: 'debug_getRawReceipts',
    module: 'debug',
    cost: 5,
    doc: 'The receipts of a block in the encoding of its receipts trie.',
  }),
  spec(eth_netHashrate, {
    name: 'eth_netHashrate',
    module: 'eth',
    cost: 1,
    doc: 'Hashes a second of the whole network, as a JSON number.',
  }),
  spec(eth_bridgeState, {
    name: 'eth_bridgeState',
    module: 'eth',
    cost: 1,
    doc: 'State of the Bridge: height of its Bitcoin chain, transactions that wait for signatures.',
  }),
  spec(txpool_content, {
    name: 'txpool_content',
    module: 'txpool',
    cost: 20,
    doc: 'The transactions of the pool by sender and nonce, each with the `reason` for which it waits.',
  }),
  spec(txpool_contentFrom, {
    name: 'txpool_contentFrom',
    module: 'txpool',
    cost: 10,
    doc: 'The waiting transactions of a sender.',
  }),
  spec(txpool_inspect, {
    name: 'txpool_inspect',
    module: 'txpool',
    cost: 20,
    doc: 'The transactions of the pool in words, by sender and nonce.',
  }),
  spec(txpool_status, {
    name: 'txpool_status',
    module: 'txpool',
    cost: 1,
    doc: 'Numbers of pending and queued transactions.',
  }),
  spec(admin_nodeInfo, {
    name: 'admin_nodeInfo',
    module: 'admin',
    cost: 1,
    doc: 'Id, enode URL, ports and chain of this node.',
  }),
  spec(admin_peers, {
    name: 'admin_peers',
    module: 'admin',
    cost: 1,
    doc: 'The connected peers with program, direction, last stated head, score and traffic.',
  }),
  spec(admin_addPeer, {
    name: 'admin_addPeer',
    module: 'admin',
    cost: 1,
    isWrite: true,
    doc: 'Dials a node until the node stops.',
  }),
  spec(admin_removePeer, {
    name: 'admin_removePeer',
    module: 'admin',
    cost: 1,
    isWrite: true,
    doc: 'Disconnects a node, named by URL or id, and does not dial it any more.',
  }),
  spec(sco_banAddress, {
    name: 'sco_banAddress',
    module: 'sco',
    cost: 1,
    isWrite: true,
    doc: 'Bans an address or a block of addresses, across restarts.',
  }),
  spec(sco_unbanAddress, {
    name: 'sco_unbanAddress',
    module: 'sco',
    cost: 1,
    isWrite: true,
    doc: 'Lifts a ban.',
  }),
  spec(sco_bannedAddresses, {
    name: 'sco_bannedAddresses',
    module: 'sco',
    cost: 1,
    doc: 'Banned addresses and blocks of addresses.',
  }),
  spec(sco_peerList, {
    name: 'sco_peerList',
    module: 'sco',
    cost: 1,
    doc: 'How each known peer has behaved.',
  }),
  spec(sco_reputationSummary, {
    name: 'sco_reputationSummary',
    module: 'sco',
    cost: 1,
    doc: 'Sums over all known peers.',
  }),
  spec(sco_clearPeerScoring, {
    name: 'sco_clearPeerScoring',
    module: 'sco',
    cost: 1,
    isWrite: true,
    doc: 'Forgets how a peer has behaved.',
  }),
  spec(debug_wireProtocolQueueSize, {
    name: 'debug_wireProtocolQueueSize',
    module: 'debug',
    cost: 1,
    doc: 'Messages of peers that wait.',
  }),
  spec(debug_accountTransactionQuota, {
    name: 'debug_accountTransactionQuota',
    module: 'debug',
    cost: 1,
    doc: 'Virtual gas that the rate limiter grants an account.',
  }),
  spec(debug_traceTransaction, {
    name: 'debug_traceTransaction',
    module: 'debug',
    cost: 50,
    doc: 'Executes a transaction again and shows its instructions, its calls, or the state that it touched.',
  }),
  spec(debug_traceBlockByHash, {
    name: 'debug_traceBlockByHash',
    module: 'debug',
    cost: 100,
    doc: 'Executes a block again and traces each of its transactions.',
  }),
  spec(debug_traceBlockByNumber, {
    name: 'debug_traceBlockByNumber',
    module: 'debug',
    cost: 100,
    doc: 'Executes a block again and traces each of its transactions.',
  }),
  spec(debug_traceBlock, {
    name: 'debug_traceBlock',
    module: 'debug',
    cost: 100,
    doc: 'Executes an encoded block on its parent and traces each of its transactions.',
  }),
  spec(debug_traceCall, {
    name: 'debug_traceCall',
    module: 'debug',
    cost: 50,
    contracts: tracedCallAt(0, 2),
    doc: 'Executes a call and traces it.',
  }),
  spec(debug_storageRangeAt, {
    name: 'debug_storageRangeAt',
    module: 'debug',
    cost: 50,
    contracts: addressAt(2),
    doc: 'Storage slots of a contract before a transaction of a block, in the order of their hashes.',
  }),
  spec(trace_transaction, {
    name: 'trace_transaction',
    module: 'trace',
    cost: 50,
    doc: 'Calls that a transaction made.',
  }),
  spec(trace_block, {
    name: 'trace_block',
    module: 'trace',
    cost: 100,
    doc: 'Calls that the transactions of a block made.',
  }),
  spec(trace_filter, {
    name: 'trace_filter',
    module: 'trace',
    cost: 200,
    contracts: tracedAt(0),
    doc: 'Calls of transactions by blocks, senders and receivers.',
  }),
  spec(trace_get, {
    name: 'trace_get',
    module: 'trace',
    cost: 50,
    doc: 'One call, by its position in the block of a transaction.',
  }),
  spec(trace_call, {
    name: 'trace_call',
    module: 'trace',
    cost: 50,
    contracts: calledAt(0),
    doc: 'Executes a call and shows its calls, changes of the state, instructions.',
  }),
  spec(trace_callMany, {
    name: 'trace_callMany',
    module: 'trace',
    cost: 100,
    contracts: tracedCallsAt(0),
    doc: 'Executes calls one after another and shows their calls, changes of the state, instructions.',
  }),
  spec(trace_rawTransaction, {
    name: 'trace_rawTransaction',
    module: 'trace',
    cost: 50,
    contracts: sentAt(0),
    doc: 'Executes a signed transaction without sending it and shows its calls, changes of the state, instructions.',
  }),
  spec(trace_replayTransaction, {
    name: 'trace_replayTransaction',
    module: 'trace',
    cost: 50,
    doc: 'Executes a transaction again and shows its calls, changes of the state, instructions.',
  }),
  spec(trace_replayBlockTransactions, {
    name: 'trace_replayBlockTransactions',
    module: 'trace',
    cost: 100,
    doc: 'Executes a block again and shows the same for each transaction.',
  }),
  spec(ots_getApiLevel, {
    name: 'ots_getApiLevel',
    module: 'ots',
    cost: 1,
    doc: 'Level of the API of Otterscan: 8.',
  }),
  spec(ots_getHeaderByNumber, {
    name: 'ots_getHeaderByNumber',
    alias: 'erigon_getHeaderByNumber',
    module: 'ots',
    cost: 2,
    doc: 'Like `eth_getHeaderByNumber`; Otterscan asks for it to recognize a node.',
  }),
  spec(ots_hasCode, {
    name: 'ots_hasCode',
    module: 'ots',
    cost: 1,
    contracts: addressAt(0),
    doc: 'Whether an account has code.',
  }),
  spec(ots_getBlockDetails, {
    name: 'ots_getBlockDetails',
    module: 'ots',
    cost: 5,
    doc: 'A block without its transactions, and the fees of its senders.',
  }),
  spec(ots_getBlockDetailsByHash, {
    name: 'ots_getBlockDetailsByHash',
    module: 'ots',
    cost: 5,
    doc: 'Like `ots_getBlockDetails`, by hash.',
  }),
  spec(ots_getBlockTransactions, {
    name: 'ots_getBlockTransactions',
    module: 'ots',
    cost: 10,
    doc: 'A page of the transactions and receipts of a block, the last transactions first; at most 25.',
  }),
  spec(ots_searchTransactionsBefore, {
    name: 'ots_searchTransactionsBefore',
    module: 'ots',
    cost: 50,
    contracts: addressAt(0),
    doc: 'Transactions of an address below a block (0: from the head down), at least a page of at most 25 and whole blocks. Needs `index.addresses`.',
  }),
  spec(ots_searchTransactionsAfter, {
    name: 'ots_searchTransactionsAfter',
    module: 'ots',
    cost: 50,
    contracts: addressAt(0),
    doc: 'Like `ots_searchTransactionsBefore`, above a block.',
  }),
  spec(ots_getTransactionBySenderAndNonce, {
    name: 'ots_getTransactionBySenderAndNonce',
    module: 'ots',
    cost: 10,
    doc: 'Hash of a mined transaction of a sender.',
  }),
  spec(ots_getContractCreator, {
    name: 'ots_getContractCreator',
    module: 'ots',
    cost: 100,
    contracts: addressAt(0),
    doc: 'The transaction that created a contract, and its creator.',
  }),
  spec(ots_getTransactionError, {
    name: 'ots_getTransactionError',
    module: 'ots',
    cost: 50,
    doc: 'Executes a transaction again: the data of its revert.',
  }),
  spec(ots_getInternalOperations, {
    name: 'ots_getInternalOperations',
    module: 'ots',
    cost: 50,
    doc: 'Executes a transaction again: transfers of coins, creations and self-destructs inside it.',
  }),
  spec(ots_traceTransaction, {
    name: 'ots_traceTransaction',
    module: 'ots',
    cost: 50,
    doc: 'Executes a transaction again: its calls as a list.',
  }),
]

/**
 * Known methods that this node does not offer, with their arities. They fail with "not available", like methods of a
 * disabled module, or with an error for a wrong number of parameters.
 */
export const notOffered: readonly (readonly [name: string, arities: readonly number[] | 'any'])[] = [
  ['eth_getCompilers', 'any'],
  ['eth_compileLLL', [1]],
  ['eth_compileSolidity', [1]],
  ['eth_compileSerpent', [1]],
  ['db_putString', 'any'],
  ['db_getString', 'any'],
  ['db_putHex', 'any'],
  ['db_getHex', 'any'],
  ['ext_dumpState', [3]],
  ['ext_dumpBlockchain', [2]],
  ['getCode', [2]],
]
