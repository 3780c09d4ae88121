import { sha256x2 } from '@scure/btc-signer/utils'
import { describe, expect, test } from 'vitest'
import { type BitcoinBlock, displayed, mineBlock, proofOf } from './bitcoinBlock.ts'

/** Header of the first Bitcoin block of regtest. */
const genesis = Buffer.from(
  `01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000`,
  'hex',
)

function blockOf(count: number): BitcoinBlock {
  return mineBlock(
    genesis,
    Array.from({ length: count }, (_none, index) => sha256x2(Buffer.from([index]))),
  )
}

/** Evaluates a proof: root and matched leaves. */
function evaluate(proof: Uint8Array): { root: Uint8Array; matches: Uint8Array[] } {
  const count = Buffer.from(proof).readUInt32LE(0)
  const hashCount = proof[4] as number
  const hashes = Array.from({ length: hashCount }, (_none, index) => proof.slice(5 + 32 * index, 37 + 32 * index))
  const flags = proof.slice(6 + 32 * hashCount)
  expect(flags).toHaveLength(proof[5 + 32 * hashCount] as number)
  const matches: Uint8Array[] = []
  let bit = 0
  const visit = (height: number, position: number): Uint8Array => {
    const isAbove = (((flags[bit >> 3] as number) >> (bit & 7)) & 1) === 1
    bit++
    if (!isAbove || height === 0) {
      const hash = hashes.shift() as Uint8Array
      if (isAbove) matches.push(hash)
      return hash
    }
    const left = visit(height - 1, 2 * position)
    const hasRight = 2 * position + 1 < Math.ceil(count / 2 ** (height - 1))
    return sha256x2(left, hasRight ? visit(height - 1, 2 * position + 1) : left)
  }
  const root = visit(Math.ceil(Math.log2(count)), 0)
  expect([hashes.length, Math.ceil(bit / 8)]).toEqual([0, flags.length])
  return { root, matches }
}

test('behavior: a block has a parent, a later time and a proof of work', () => {
  const { header } = blockOf(1)
  expect(header).toHaveLength(80)
  expect(displayed(header.slice(4, 36))).toBe('0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206')
  expect(Buffer.from(header).readUInt32LE(68)).toBe(genesis.readUInt32LE(68) + 600)
  expect(displayed(sha256x2(header)) <= `7fffff${'00'.repeat(29)}`).toBe(true)
})

describe('proofs', () => {
  test.each([1, 2, 3, 4, 5, 7, 8, 9, 15])('of each of %i transactions', (count) => {
    const block = blockOf(count)
    for (const [index, id] of block.ids.entries()) {
      const { root, matches } = evaluate(proofOf(block, index))
      expect(Buffer.from(root).equals(block.header.slice(36, 68))).toBe(true)
      expect(matches.map(displayed)).toEqual([displayed(id)])
    }
  })
})
