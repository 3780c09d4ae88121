// Random calls of the views of the Bridge, for a search against a reference node.
import { displayed, parentsOf } from './bitcoin-chain.mjs'
import { callOf, views } from './bridge-abi.mjs'

const nothing = `0x${'00'.repeat(32)}`

/**
 * Returns call data of about a third of the views. `block` is a Bitcoin block, `mined` a transaction in one, if there are any;
 * `address` is a Bitcoin address.
 */
export function viewCalls(random, { block, mined, address }) {
  const hash = block === undefined ? nothing : `0x${displayed(block.hash)}`
  const id = mined === undefined ? nothing.slice(2) : displayed(mined.transaction.id)
  const member = () => random.pick([0, 1, 2, 3, -1])
  const kind = () => random.pick(['btc', 'rsk', 'mst', 'btc', 'x'])
  const calls = [
    ...views.map((name) => [name, []]),
    ['getBtcBlockchainBlockHashAtDepth', [random.pick([0, 1, 5, 400])]],
    ['getBtcBlockchainBlockHeaderByHash', [hash]],
    ['getBtcBlockchainBlockHeaderByHeight', [Math.max(0, (block?.height ?? 0) + random.below(5) - 2)]],
    ['getBtcBlockchainParentBlockHeaderByHash', [hash]],
    ['getBtcTransactionConfirmations', inclusionOf(mined)],
    ['getBtcTxHashProcessedHeight', [id]],
    [
      'getEstimatedFeesForPegOutAmount',
      [BigInt(random.pick([0, 249_999, 250_000, 1_000_000, 900_000_000])) * 10n ** 10n],
    ],
    ['getFederatorPublicKey', [member()]],
    ['getFederatorPublicKeyOfType', [member(), kind()]],
    ['getLockWhitelistAddress', [member()]],
    ['getLockWhitelistEntryByAddress', [address]],
    ['getPendingFederatorPublicKey', [member()]],
    ['getPendingFederatorPublicKeyOfType', [member(), kind()]],
    ['getProposedFederatorPublicKeyOfType', [member(), kind()]],
    ['getRetiringFederatorPublicKey', [member()]],
    ['getRetiringFederatorPublicKeyOfType', [member(), kind()]],
    ['hasBtcBlockCoinbaseTransactionInformation', [hash]],
    ['isBtcTxHashAlreadyProcessed', [id]],
  ]
  return calls.filter(() => random.isOne(3)).map(([method, values]) => callOf(method, values))
}

/** Returns the arguments that prove a transaction: id, block, path, and hashes from the leaves up. */
function inclusionOf(mined) {
  if (mined === undefined) return [nothing, nothing, 0, []]
  const { transaction, block, index } = mined
  const branch = []
  let level = block.ids
  for (let at = index; level.length > 1; at >>= 1) {
    branch.push(`0x${displayed(level[at ^ 1] ?? level[at])}`)
    level = parentsOf(level)
  }
  return [`0x${displayed(transaction.id)}`, `0x${displayed(block.hash)}`, index, branch]
}
