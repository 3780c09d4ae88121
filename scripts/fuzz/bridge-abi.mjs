// Methods of the Bridge (docs/spec/bridge.md, 2.1) for a search against a reference node.
import { Interface } from 'ethers'

export const bridgeAddress = '0x0000000000000000000000000000000001000006'

/** Methods that change the Bridge. */
const writes = [
  'addFederatorPublicKey(bytes)',
  'addFederatorPublicKeyMultikey(bytes,bytes,bytes)',
  'addLockWhitelistAddress(string,int256)',
  'addOneOffLockWhitelistAddress(string,int256)',
  'addSignature(bytes,bytes[],bytes)',
  'addUnlimitedLockWhitelistAddress(string)',
  'clearBaseEvent()',
  'clearSuperEvent()',
  'commitFederation(bytes)',
  'createFederation()',
  'increaseLockingCap(int256)',
  'increaseUnionBridgeLockingCap(uint256)',
  'receiveHeader(bytes)',
  'receiveHeaders(bytes[])',
  'registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)',
  'registerBtcTransaction(bytes,int256,bytes)',
  'registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)',
  'releaseBtc()',
  'releaseUnionBridgeRbtc()',
  'removeLockWhitelistAddress(string)',
  'requestUnionBridgeRbtc(uint256)',
  'rollbackFederation()',
  'setBaseEvent(bytes)',
  'setLockWhitelistDisableBlockDelay(int256)',
  'setSuperEvent(bytes)',
  'setUnionBridgeContractAddressForTestnet(address)',
  'setUnionBridgeTransferPermissions(bool,bool)',
  'updateCollections()',
  'voteFeePerKbChange(int256)',
]

/** Views without arguments. */
export const views = [
  'getActiveFederationCreationBlockHeight',
  'getActivePowpegRedeemScript',
  'getBaseEvent',
  'getBtcBlockchainBestBlockHeader',
  'getBtcBlockchainBestChainHeight',
  'getBtcBlockchainBlockLocator',
  'getBtcBlockchainInitialBlockHeight',
  'getEstimatedFeesForNextPegOutEvent',
  'getFederationAddress',
  'getFederationCreationBlockNumber',
  'getFederationCreationTime',
  'getFederationSize',
  'getFederationThreshold',
  'getFeePerKb',
  'getLockingCap',
  'getLockWhitelistSize',
  'getMinimumLockTxValue',
  'getNextPegoutCreationBlockNumber',
  'getPendingFederationHash',
  'getPendingFederationSize',
  'getProposedFederationAddress',
  'getProposedFederationCreationBlockNumber',
  'getProposedFederationCreationTime',
  'getProposedFederationSize',
  'getQueuedPegoutsCount',
  'getRetiringFederationAddress',
  'getRetiringFederationCreationBlockNumber',
  'getRetiringFederationCreationTime',
  'getRetiringFederationSize',
  'getRetiringFederationThreshold',
  'getStateForBtcReleaseClient',
  'getStateForDebugging',
  'getStateForSvpClient',
  'getSuperEvent',
  'getUnionBridgeContractAddress',
  'getUnionBridgeLockingCap',
]

const viewsWithArguments = [
  'getBtcBlockchainBlockHashAtDepth(int256) view returns (bytes)',
  'getBtcBlockchainBlockHeaderByHash(bytes32) view returns (bytes)',
  'getBtcBlockchainBlockHeaderByHeight(uint256) view returns (bytes)',
  'getBtcBlockchainParentBlockHeaderByHash(bytes32) view returns (bytes)',
  'getBtcTransactionConfirmations(bytes32,bytes32,uint256,bytes32[])',
  'getBtcTxHashProcessedHeight(string)',
  'getEstimatedFeesForPegOutAmount(uint256)',
  'getFederatorPublicKey(int256)',
  'getFederatorPublicKeyOfType(int256,string) view returns (bytes)',
  'getLockWhitelistAddress(int256)',
  'getLockWhitelistEntryByAddress(string)',
  'getPendingFederatorPublicKey(int256)',
  'getPendingFederatorPublicKeyOfType(int256,string)',
  'getProposedFederatorPublicKeyOfType(int256,string)',
  'getRetiringFederatorPublicKey(int256)',
  'getRetiringFederatorPublicKeyOfType(int256,string)',
  'hasBtcBlockCoinbaseTransactionInformation(bytes32)',
  'isBtcTxHashAlreadyProcessed(string)',
]

/** Types of the views without arguments whose answers are used. */
const results = {
  getActivePowpegRedeemScript: 'bytes',
  getBtcBlockchainBestChainHeight: 'int256',
  getFederationAddress: 'string',
  getFeePerKb: 'int256',
  getFederationSize: 'int256',
  getLockingCap: 'int256',
  getFederationCreationBlockNumber: 'int256',
  getNextPegoutCreationBlockNumber: 'uint256',
  getPendingFederationHash: 'bytes',
  getPendingFederationSize: 'int256',
  getProposedFederationAddress: 'string',
  getProposedFederationCreationBlockNumber: 'int256',
  getQueuedPegoutsCount: 'uint256',
  getRetiringFederationAddress: 'string',
  getStateForBtcReleaseClient: 'bytes',
  getStateForSvpClient: 'bytes',
  getUnionBridgeLockingCap: 'uint256',
}

const abi = new Interface([
  ...[...writes, ...viewsWithArguments].map((method) => `function ${method}`),
  ...views.map((name) => `function ${name}() view returns (${results[name] ?? 'bytes'})`),
  'event commit_federation(bytes,string,bytes,string,int256)',
  'event release_btc(bytes32 indexed releaseRskTxHash, bytes btcRawTransaction)',
])

export const commitTopic = abi.getEvent('commit_federation').topicHash
export const releaseTopic = abi.getEvent('release_btc').topicHash

/** Returns call data. */
export function callOf(method, values = []) {
  return abi.encodeFunctionData(method, values)
}

/** Returns the result of a view, undefined if it has none. */
export function resultOf(method, answer) {
  if (answer === undefined || answer === '0x') return undefined
  const [value] = abi.decodeFunctionResult(method, answer)
  return value
}

/** Returns the raw Bitcoin transaction of an event `release_btc`. */
export function releasedTransaction({ topics, data }) {
  return Buffer.from(abi.parseLog({ topics, data }).args.btcRawTransaction.slice(2), 'hex')
}
