import { Type } from 'typebox'
import { transaction } from './chain.ts'
import {
  address,
  bytesOf,
  data,
  flag,
  hash,
  listOf,
  named,
  nothing,
  orNull,
  quantity,
  shape,
  text,
  whole,
} from './values.ts'

// The pool, peers and limits of this node.

const pooled = shape('PooledTransaction', {
  blockHash: hash,
  blockNumber: nothing,
  transactionIndex: nothing,
  from: address,
  gas: quantity,
  gasPrice: data,
  hash,
  input: data,
  nonce: quantity,
  to: data,
  value: data,
  // Reason of the wait, for people.
  reason: Type.Optional(text),
})

/** Sender without `0x` -> nonce in decimal -> transactions. */
const tree = (element: typeof pooled | typeof text) => named('^[0-9a-f]{40}$', named('^[0-9]+$', listOf(element)))

/** Nonce in decimal -> transaction. */
const waiting = named('^[0-9]+$', transaction)

export const poolContentFrom = shape('PoolContentFrom', { pending: waiting, queued: waiting })

const fork = shape('ForkConfig', {
  activationBlock: quantity,
  upgrade: text,
  blobSchedule: nothing,
  chainId: quantity,
  forkId: bytesOf(4),
  precompiles: named('^[A-Z0-9_]+$', address),
  systemContracts: shape('SystemContracts', {}),
})

export const forkConfig = shape('ForkConfigs', { current: fork, next: orNull(fork), last: orNull(fork) })

const resource = shape('Resource', {
  disabled: flag,
  oldestBlock: quantity,
  deleteStrategy: Type.Optional(shape('DeleteStrategy', { type: text, retentionBlocks: quantity })),
})

export const capabilities = shape('Capabilities', {
  head: shape('CapabilitiesHead', { number: quantity, hash }),
  state: resource,
  tx: resource,
  logs: resource,
  receipts: resource,
  blocks: resource,
  stateproofs: resource,
})

export const poolContent = shape('PoolContent', { pending: tree(pooled), queued: tree(pooled) })
export const poolTexts = shape('PoolTexts', { pending: tree(text), queued: tree(text) })
export const poolStatus = shape('PoolStatus', { pending: whole, queued: whole })

const counters = {
  successfulHandshakes: whole,
  failedHandshakes: whole,
  invalidNetworks: whole,
  repeatedMessages: whole,
  validBlocks: whole,
  validTransactions: whole,
  invalidBlocks: whole,
  invalidTransactions: whole,
  invalidMessages: whole,
  timeoutMessages: whole,
  unexpectedMessages: whole,
  invalidHeader: whole,
}

export const peerScoring = shape('PeerScoring', {
  ...counters,
  score: whole,
  punishments: whole,
  goodReputation: flag,
  punishedUntil: whole,
  id: text,
  type: text,
})

/** Null without a listener. */
const listenerText = orNull(text)

export const ownInfo = shape('OwnNodeInfo', {
  enode: listenerText,
  id: text,
  name: text,
  listenAddr: listenerText,
  ports: shape('NodePorts', { listener: whole, discovery: whole }),
  protocols: shape('OwnProtocols', {
    rsk: shape('OwnRskProtocol', { network: whole, genesis: hash, head: hash, difficulty: text }),
  }),
})

export const connectedPeer = shape('ConnectedPeer', {
  enode: text,
  id: text,
  name: text,
  caps: listOf(text),
  network: shape('PeerNetwork', { remoteAddress: text, inbound: flag, static: flag }),
  connectedSeconds: whole,
  score: whole,
  bytesIn: whole,
  bytesOut: whole,
  protocols: shape('PeerProtocols', {
    rsk: shape('PeerRskProtocol', { version: whole, head: hash, number: Type.Optional(whole), difficulty: text }),
  }),
})

export const reputationSummary = shape('ReputationSummary', {
  count: whole,
  ...counters,
  peersTotalScore: whole,
  punishments: whole,
  goodReputationCount: whole,
  badReputationCount: whole,
})

export const transactionQuota = shape('TransactionQuota', { timestamp: whole, availableVirtualGas: Type.Number() })

/** Numbers in the form of Hardhat and anvil: not all are QUANTITY. */
export const metadata = shape('Metadata', {
  clientVersion: text,
  chainId: whole,
  instanceId: hash,
  latestBlockNumber: whole,
  latestBlockHash: hash,
  forkedNetwork: orNull(shape('ForkedNetwork', { chainId: whole, forkBlockNumber: whole, forkBlockHash: hash })),
  snapshots: named('^0x[0-9a-f]+$', Type.Tuple([whole, hash])),
})

export const nodeInfo = shape('NodeInfo', {
  currentBlockNumber: quantity,
  currentBlockTimestamp: whole,
  currentBlockHash: hash,
  hardFork: text,
  transactionOrder: text,
  environment: shape('NodeEnvironment', { baseFee: quantity, chainId: whole, gasLimit: quantity, gasPrice: quantity }),
  forkConfig: shape('ForkConfig', {
    forkUrl: orNull(text),
    forkBlockNumber: orNull(whole),
    forkRetryBackoff: nothing,
  }),
})
