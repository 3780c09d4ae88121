import type { KnownParameter, KnownSignature, KnownSignatures } from '../settings.ts'
import { type AbiValue, decodeAbi } from './abi.ts'

// Common functions and events by selector and topic: ERC-20, ERC-721, ERC-1155, owners and roles, proxies, the Bridge.

/** A decoded call or log. */
export interface Decoded {
  readonly name: string
  readonly values: readonly { readonly name: string; readonly type: string; readonly value: AbiValue }[]
}

/** Functions, and errors of REVERT. */
export const functions: readonly (readonly [selector: string, signature: string])[] = [
  ['0xa9059cbb', 'transfer(address to, uint256 amount)'],
  ['0x23b872dd', 'transferFrom(address from, address to, uint256 amount)'],
  ['0x095ea7b3', 'approve(address spender, uint256 amount)'],
  ['0x39509351', 'increaseAllowance(address spender, uint256 added)'],
  ['0xa457c2d7', 'decreaseAllowance(address spender, uint256 subtracted)'],
  ['0x70a08231', 'balanceOf(address account)'],
  ['0xdd62ed3e', 'allowance(address owner, address spender)'],
  ['0x18160ddd', 'totalSupply()'],
  ['0x06fdde03', 'name()'],
  ['0x95d89b41', 'symbol()'],
  ['0x313ce567', 'decimals()'],
  ['0x40c10f19', 'mint(address to, uint256 amount)'],
  ['0x42966c68', 'burn(uint256 amount)'],
  ['0x9dc29fac', 'burn(address from, uint256 amount)'],
  ['0x79cc6790', 'burnFrom(address from, uint256 amount)'],
  [
    '0xd505accf',
    'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  ],
  ['0xd0e30db0', 'deposit()'],
  ['0x2e1a7d4d', 'withdraw(uint256 amount)'],
  ['0x6352211e', 'ownerOf(uint256 tokenId)'],
  ['0x081812fc', 'getApproved(uint256 tokenId)'],
  ['0xe985e9c5', 'isApprovedForAll(address owner, address operator)'],
  ['0xa22cb465', 'setApprovalForAll(address operator, bool approved)'],
  ['0x42842e0e', 'safeTransferFrom(address from, address to, uint256 tokenId)'],
  ['0xb88d4fde', 'safeTransferFrom(address from, address to, uint256 tokenId, bytes data)'],
  ['0xc87b56dd', 'tokenURI(uint256 tokenId)'],
  ['0x150b7a02', 'onERC721Received(address operator, address from, uint256 tokenId, bytes data)'],
  ['0x00fdd58e', 'balanceOf(address account, uint256 id)'],
  ['0x4e1273f4', 'balanceOfBatch(address[] accounts, uint256[] ids)'],
  ['0xf242432a', 'safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)'],
  ['0x2eb2c2d6', 'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)'],
  ['0x0e89341c', 'uri(uint256 id)'],
  ['0x01ffc9a7', 'supportsInterface(bytes4 interfaceId)'],
  ['0x8da5cb5b', 'owner()'],
  ['0xf2fde38b', 'transferOwnership(address newOwner)'],
  ['0x715018a6', 'renounceOwnership()'],
  ['0x79ba5097', 'acceptOwnership()'],
  ['0x2f2ff15d', 'grantRole(bytes32 role, address account)'],
  ['0xd547741f', 'revokeRole(bytes32 role, address account)'],
  ['0x36568abe', 'renounceRole(bytes32 role, address account)'],
  ['0x91d14854', 'hasRole(bytes32 role, address account)'],
  ['0x8456cb59', 'pause()'],
  ['0x3f4ba83a', 'unpause()'],
  ['0x5c975abb', 'paused()'],
  ['0x3659cfe6', 'upgradeTo(address implementation)'],
  ['0x4f1ef286', 'upgradeToAndCall(address implementation, bytes data)'],
  ['0x5c60da1b', 'implementation()'],
  ['0xac9650d8', 'multicall(bytes[] calls)'],
  ['0x08c379a0', 'Error(string reason)'],
  ['0x4e487b71', 'Panic(uint256 code)'],
  ['0x0c5a9990', 'updateCollections()'],
  ['0x884bdd86', 'receiveHeader(bytes header)'],
  ['0xe5400e7b', 'receiveHeaders(bytes[] headers)'],
  ['0x43dc0656', 'registerBtcTransaction(bytes transaction, int256 height, bytes partialMerkleTree)'],
  [
    '0xccf417ae',
    'registerBtcCoinbaseTransaction(bytes transaction, bytes32 blockHash, bytes partialMerkleTree, bytes32 witnessRoot, bytes32 witnessReserved)',
  ],
  [
    '0x6adc0133',
    'registerFastBridgeBtcTransaction(bytes transaction, uint256 height, bytes partialMerkleTree, bytes32 derivationHash, bytes refundAddress, address contract, bytes providerAddress, bool shouldTransfer)',
  ],
  ['0xf10b9c59', 'addSignature(bytes publicKey, bytes[] signatures, bytes transactionHash)'],
  ['0x80af2871', 'releaseBtc()'],
  ['0x6923fa85', 'getFederationAddress()'],
  ['0x14c89c01', 'getBtcBlockchainBestChainHeight()'],
  [
    '0x5b644587',
    'getBtcTransactionConfirmations(bytes32 transactionHash, bytes32 blockHash, uint256 path, bytes32[] hashes)',
  ],
  ['0xc4fbca20', 'getStateForBtcReleaseClient()'],
  ['0x2f8d158f', 'getMinimumLockTxValue()'],
  ['0x724ec886', 'getFeePerKb()'],
  ['0x0461313e', 'voteFeePerKbChange(int256 fee)'],
  ['0x3f9db977', 'getLockingCap()'],
  ['0x2910aeb2', 'increaseLockingCap(int256 cap)'],
  ['0x248a982d', 'isBtcTxHashAlreadyProcessed(string hash)'],
  ['0x97fcca7d', 'getBtcTxHashProcessedHeight(string hash)'],
]

/** Several events of a topic differ in their indexed parameters, or in the types of the others. */
export const events: readonly (readonly [topic: string, signature: string])[] = [
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'Transfer(address indexed from, address indexed to, uint256 amount)',
  ],
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  ],
  [
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    'Approval(address indexed owner, address indexed spender, uint256 amount)',
  ],
  [
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    'Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  ],
  [
    '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
    'ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  ],
  [
    '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
    'TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
  ],
  [
    '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
    'TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
  ],
  ['0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b', 'URI(string value, uint256 indexed id)'],
  [
    '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
    'Deposit(address indexed account, uint256 amount)',
  ],
  [
    '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
    'Withdrawal(address indexed account, uint256 amount)',
  ],
  [
    '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
    'OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
  ],
  [
    '0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d',
    'RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)',
  ],
  [
    '0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b',
    'RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)',
  ],
  ['0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258', 'Paused(address account)'],
  ['0x5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa', 'Unpaused(address account)'],
  ['0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b', 'Upgraded(address indexed implementation)'],
  ['0x7f26b83ff96e1f2b6a682f133852f6798a09c465da95921460cefb3847402498', 'Initialized(uint8 version)'],
  ['0x1069152f4f916cbf155ee32a695d92258481944edb5b6fd649718fc1b43e515e', 'update_collections(address sender)'],
  [
    '0xec2232bdbe54a92238ce7a6b45d53fb31f919496c6abe1554be1cc8eddb6600a',
    'lock_btc(address indexed receiver, bytes32 btcTxHash, string senderBtcAddress, int256 amount)',
  ],
  [
    '0x44cdc782a38244afd68336ab92a0b39f864d6c0b2a50fa1da58cafc93cd2ae5a',
    'pegin_btc(address indexed receiver, bytes32 indexed btcTxHash, int256 amount, int256 protocolVersion)',
  ],
  [
    '0x708ce1ead20561c5894a93be3fee64b326b2ad6c198f8253e4bb56f1626053d6',
    'rejected_pegin(bytes32 indexed btcTxHash, int256 reason)',
  ],
  [
    '0x35be155c87e408cbbcb753dc12f95fc5a242a29460a3d7189e807e63d7c185a7',
    'unrefundable_pegin(bytes32 indexed btcTxHash, int256 reason)',
  ],
  [
    '0x83b6efe3a7d95459577ec9396f5d6f1e486ca2378130e2ba4d98a4da108ca743',
    'add_signature(bytes32 indexed releaseRskTxHash, address indexed federatorRskAddress, bytes federatorBtcPublicKey)',
  ],
  [
    '0x655929b56d5c5a24f81ee80267d5151b9d680e7e703387999922e9070bc98a02',
    'release_btc(bytes32 indexed releaseRskTxHash, bytes btcRawTransaction)',
  ],
  [
    '0x7a7c29481528ac8c2b2e93aee658fddd4dc15304fa723a5c2b88514557bcc790',
    'release_requested(bytes32 indexed rskTxHash, bytes32 indexed btcTxHash, uint256 amount)',
  ],
  [
    '0x8e04e2f2c246a91202761c435d6a4971bdc7af0617f0c739d900ecd12a6d7266',
    'release_request_received(address indexed sender, bytes btcDestinationAddress, uint256 amount)',
  ],
  [
    '0x1a4457a4460d48b40c5280955faf8e4685fa73f0866f7d8f573bdd8e64aca5b1',
    'release_request_received(address indexed sender, string btcDestinationAddress, uint256 amount)',
  ],
  [
    '0xb607c3e1fbe6b38cd145b15b837f7b722b199caa60e3057b36c141adee3b75e7',
    'release_request_rejected(address indexed sender, uint256 amount, int256 reason)',
  ],
  [
    '0x483d0191cc4e784b04a41f6c4801a0766b43b1fdd0b9e3e6bfdca74e5b05c2eb',
    'batch_pegout_created(bytes32 indexed btcTxHash, bytes releaseRskTxHashes)',
  ],
  [
    '0xc287f602476eeef8a547a3b82e79045c827c51362ff153f728b6d839bad099ef',
    'pegout_confirmed(bytes32 indexed btcTxHash, uint256 pegoutCreationRskBlockNumber)',
  ],
  [
    '0x9ee5d520fd5e6eaea3fd2e3ae4e35e9a9c0fb05c9d8f84b507f287da84b5117c',
    'pegout_transaction_created(bytes32 indexed btcTxHash, bytes utxoOutpointValues)',
  ],
  [
    '0x5b9466a0b50d1cab12eeb0b3b5d387ece7659afcc56bb15704535e6954de8c4e',
    'commit_federation(bytes oldFederationBtcPublicKeys, string oldFederationBtcAddress, bytes newFederationBtcPublicKeys, string newFederationBtcAddress, int256 activationHeight)',
  ],
]

const known: { functions: readonly KnownSignature[]; events: readonly KnownSignature[] } = {
  functions: functions.map(parse),
  events: events.map(parse),
}

/** Adds signatures, which have precedence over the common ones. */
export function addSignatures({ functions, events }: KnownSignatures): void {
  known.functions = [...functions, ...known.functions]
  known.events = [...events, ...known.events]
}

/** Decodes the input of a call, or the data of a REVERT; undefined if its selector is unknown or the data do not fit. */
export function decodeInput(input: string): Decoded | undefined {
  const selector = input.slice(0, 10)
  for (const { id, name, parameters } of known.functions) {
    if (id !== selector) continue
    const values = decodeAbi(typesOf(parameters), input.slice(10))
    if (values !== undefined) return named(name, parameters, values)
  }
  return undefined
}

/** Decodes a log; undefined if its first topic is unknown or the data do not fit. */
export function decodeLog(topics: readonly string[], data: string): Decoded | undefined {
  for (const { id, name, parameters } of known.events) {
    if (id !== topics[0]) continue
    const indexed = parameters.filter(({ isIndexed }) => isIndexed)
    const others = parameters.filter(({ isIndexed }) => !isIndexed)
    if (indexed.length !== topics.length - 1) continue
    const fromTopics = indexed.map(({ type }, index) => decodeAbi([topicType(type)], topics[index + 1] ?? '')?.[0])
    const fromData = decodeAbi(typesOf(others), data)
    if (fromData === undefined || fromTopics.includes(undefined)) continue
    const values = parameters.map((one) =>
      one.isIndexed ? fromTopics[indexed.indexOf(one)] : fromData[others.indexOf(one)],
    )
    return named(name, parameters, values as AbiValue[])
  }
  return undefined
}

function typesOf(parameters: readonly KnownParameter[]): readonly string[] {
  return parameters.map(({ type }) => type)
}

/** Returns the type of a topic: that of longer values is their hash. */
function topicType(type: string): string {
  return /^(string|bytes)$|[[(]/.test(type) ? 'bytes32' : type
}

function named(name: string, parameters: readonly KnownParameter[], values: readonly AbiValue[]): Decoded {
  return {
    name,
    values: parameters.map((one, index) => ({
      name: one.name === '' ? String(index) : one.name,
      type: one.isIndexed ? topicType(one.type) : one.type,
      value: values[index] ?? '',
    })),
  }
}

/** Reads `name(type name, type indexed name)`. */
function parse([id, signature]: readonly [id: string, signature: string]): KnownSignature {
  const [name = '', list = ''] = signature.replace(')', '').split('(')
  const parts = list === '' ? [] : list.split(', ').map((part) => part.split(' '))
  const parameters = parts.map((words) => ({
    name: words.at(-1) ?? '',
    type: words[0] ?? '',
    isIndexed: words.includes('indexed'),
  }))
  return { id, name, parameters }
}
