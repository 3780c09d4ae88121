import { SigHash, Transaction } from '@scure/btc-signer'
import { sha256x2 } from '@scure/btc-signer/utils'
import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import {
  BitcoinChain,
  decoded,
  displayed,
  parentsOf,
  parsed,
  proofOf,
  reservedValue,
  signatureHash,
} from './bitcoin-chain.mjs'
import { BitcoinPayments, outputScriptOf } from './bitcoin-payments.mjs'
import { members } from './federation-keys.mjs'

const script = Buffer.from(`a914${'11'.repeat(20)}87`, 'hex')
const receivers = [`0x${'22'.repeat(20)}`]

function blockOf(chain, count) {
  const payments = new BitcoinPayments(new Random(count))
  return chain.mine(Array.from({ length: count }, () => payments.pegIn([script], receivers)))
}

test('behavior: blocks build on each other, and the longest branch wins', () => {
  const chain = new BitcoinChain()
  const first = blockOf(chain, 0)
  const second = blockOf(chain, 0)
  expect(displayed(second.header.subarray(4, 36))).toBe(displayed(first.hash))
  expect(second.header.readUInt32LE(68) - first.header.readUInt32LE(68)).toBe(600)
  const other = chain.mine([], first)
  expect(chain.tip).toBe(second)
  expect(other.hash).not.toEqual(second.hash)
  expect(chain.mine([], other)).toBe(chain.tip)
  expect(chain.branch(2).map(({ height }) => height)).toEqual([2, 3])
})

test('behavior: blocks commit to ids and to witnesses', () => {
  for (const count of [1, 2, 5, 8]) {
    const block = blockOf(new BitcoinChain(), count)
    let level = block.ids
    while (level.length > 1) level = parentsOf(level)
    expect(Buffer.compare(level[0], block.header.subarray(36, 68))).toBe(0)
    const commitment = Buffer.from(decoded(block.transactions[0].raw).outputs.at(-1).script).toString('hex')
    const hash = Buffer.from(sha256x2(block.witnessRoot, reservedValue)).toString('hex')
    if (block.transactions.some(({ id, witnessId }) => !id.equals(witnessId))) expect(commitment).toContain(hash)
    for (const [index] of block.ids.entries()) expect(proofOf(block.ids, index).readUInt32LE(0)).toBe(count + 1)
  }
})

test('behavior: random payments can be read', () => {
  const payments = new BitcoinPayments(new Random(3))
  const all = Array.from({ length: 100 }, () => payments.pegIn([script], receivers))
  for (const { raw, id, witnessId } of all) expect(parsed(raw)).toMatchObject({ id, witnessId })
  expect(all.filter(({ id, witnessId }) => !id.equals(witnessId)).length).toBeGreaterThan(10)
})

test('behavior: signature hashes of spends are those of the library', () => {
  const keys = members.slice(0, 3).map(({ bitcoin }) => bitcoin)
  const publicKeys = members.slice(0, 3).map(({ publicKey }) => publicKey.toString('hex'))
  const redeemScript = Buffer.from(`52${publicKeys.map((key) => `21${key}`).join('')}53ae`, 'hex')
  const payments = new BitcoinPayments(new Random(8))
  for (const isLegacy of [true, false]) {
    const coin = { txid: Buffer.alloc(32, 7), index: 1, script: redeemScript, isLegacy }
    const output = outputScriptOf(redeemScript, isLegacy)
    const spends = Array.from({ length: 20 }, () => payments.spend([coin], keys, [output], () => 5000n))
    // Others spend coins of the old federation.
    const own = spends.filter(({ raw }) => Buffer.from(raw).includes(coin.txid))
    expect(own.length).toBeGreaterThan(5)
    for (const { raw } of own) {
      const library = Transaction.fromRaw(raw, { allowUnknownInputs: true, allowUnknownOutputs: true })
      const expected = isLegacy
        ? library.preimageLegacy(0, redeemScript, SigHash.ALL)
        : library.preimageWitnessV0(0, redeemScript, SigHash.ALL, 5000n)
      expect(Buffer.from(signatureHash(decoded(raw), 0, () => 5000n))).toEqual(Buffer.from(expected))
    }
  }
})
