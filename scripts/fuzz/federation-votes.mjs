// Random votes at the Bridge, mostly sensible ones: `{ key, method, values }`. `key` signs; undefined stands for any sender.
import { pubECDSA } from '@scure/btc-signer/utils'
import {
  authorizers,
  capAuthorizer,
  feeAuthorizer,
  members,
  unionAuthorizer,
  whitelistAuthorizer,
} from './federation-keys.mjs'

const fees = [
  -1, 0, 1, 1000, 4999, 5000, 5001, 20_000, 50_000, 100_000, 100_000, 300_000, 1_000_000, 5_000_000, 5_000_001,
]

/** Returns votes for the next step of a change of the federation, or for a different step. */
export function federationVotes(random, { pendingSize, pendingHash, isMultikey, isChanging }) {
  const target = 2 + random.below(4)
  let step = pendingSize < 0 ? 'create' : pendingSize < target ? 'add' : 'commit'
  if (random.isOne(15)) step = random.pick(['create', 'add', 'commit', 'rollback', 'rollback'])
  // Refused while the last change is under way.
  if (step === 'create' && isChanging && !random.isOne(5)) return []
  const calls = Array.from({ length: step === 'add' ? 1 + random.below(4) : 1 }, () => {
    if (step === 'add') return additionOf(random, isMultikey !== random.isOne(20))
    if (step !== 'commit') return [`${step}Federation`, []]
    const hash =
      pendingHash === undefined || random.isOne(12) ? random.bytes(random.pick([0, 31, 32, 32])) : pendingHash
    return ['commitFederation', [typeof hash === 'string' ? hash : Buffer.from(hash)]]
  })
  return calls.flatMap(([method, values]) => votersOf(random).map((key) => ({ key, method, values })))
}

function additionOf(random, isMultikey) {
  const { publicKey, rsk, mst } = random.pick(members)
  const key = random.isOne(15) ? Buffer.from(random.bytes(random.pick([0, 2, 33, 65]))) : publicKey
  if (!isMultikey) return ['addFederatorPublicKey', [key]]
  return ['addFederatorPublicKeyMultikey', [key, pubECDSA(rsk, !random.isOne(10)), pubECDSA(mst)]]
}

/** Returns three to five of the authorizers, sometimes less, sometimes another sender too. */
function votersOf(random) {
  const voters = authorizers.slice(random.below(3))
  if (random.isOne(6)) voters.splice(random.below(voters.length), 1)
  if (random.isOne(10)) voters.push(undefined)
  return voters
}

export function feeVote(random) {
  return byMostly(random, feeAuthorizer, 'voteFeePerKbChange', [random.pick(fees)])
}

/** Returns a vote around the limits of the next cap. */
export function capVote(random, cap) {
  const next = random.pick([cap - 1n, cap, cap + 1n, (cap * 3n) / 2n, cap * 2n, cap * 2n + 1n, -1n, 0n, 1n << 64n])
  return byMostly(random, capAuthorizer, 'increaseLockingCap', [next])
}

export function whitelistVote(random, bitcoinAddress) {
  const address = random.isOne(10) ? 'no address' : bitcoinAddress
  const [method, values] = random.pick([
    ['addUnlimitedLockWhitelistAddress', [address]],
    ['addUnlimitedLockWhitelistAddress', [address]],
    ['addOneOffLockWhitelistAddress', [address, random.pick([0, 1_000_000, 100_000_000, -1])]],
    ['addLockWhitelistAddress', [address, 3_000_000_000]],
    ['removeLockWhitelistAddress', [address]],
    ['setLockWhitelistDisableBlockDelay', [random.pick([0, 1, 5, 100, -1])]],
  ])
  return byMostly(random, whitelistAuthorizer, method, values)
}

export function unionAddressVote(random, address) {
  return byMostly(random, unionAuthorizer, 'setUnionBridgeContractAddressForTestnet', [address])
}

/** Returns a call of the contract of the union bridge: `{ method, values, value }`. */
export function unionCall(random) {
  const wei = random.pick([0n, 1n, 10n ** 17n, 5n * 10n ** 17n, 10n ** 18n, 10n ** 18n + 1n])
  const event = Buffer.from(random.bytes(random.pick([0, 1, 32, 128, 129])))
  const requested = random.isOne(10) ? BigInt.asUintN(256, -wei) : wei
  const [method, values, value = 0n] = random.pick([
    ['requestUnionBridgeRbtc', [requested]],
    ['requestUnionBridgeRbtc', [requested]],
    ['releaseUnionBridgeRbtc', [], wei],
    ['setBaseEvent', [event]],
    ['setSuperEvent', [event]],
    ['clearBaseEvent', []],
    ['clearSuperEvent', []],
    ['increaseUnionBridgeLockingCap', [wei]],
    ['setUnionBridgeTransferPermissions', [random.isOne(2), random.isOne(2)]],
  ])
  return { method, values, value }
}

function byMostly(random, key, method, values) {
  return { key: random.isOne(6) ? undefined : key, method, values }
}
