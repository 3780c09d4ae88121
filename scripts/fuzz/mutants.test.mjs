import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import { decode, encode, lengthened, numberOf, read } from './encoding.mjs'
import { Mutable, mutate } from './mutants.mjs'
import { field, Heights, miningHash, sha256, sha256d, sha256From, tag } from './seal.mjs'

const vectors = new URL('../../tests/vectors/blocks/', import.meta.url)
const golden = (name) => JSON.parse(gunzipSync(readFileSync(new URL(name, vectors))).toString())
const rules = new Heights(golden('chain_specs.json.gz')['regtest-basic'].consensusRules)
const blocks = golden('chain_regtest.json.gz')
  .cases.filter(({ result }) => result === 'IMPORTED_BEST')
  .map(({ raw }) => Buffer.from(raw, 'hex'))

function mutants(seed) {
  const random = new Random(seed)
  return blocks.slice(0, 40).map((raw, index) => {
    const [header, transactions, uncles] = decode(raw)
    const number = Number(numberOf(header[field.number]))
    const block = new Mutable(
      header,
      transactions.map((fields) => ({ fields })),
      uncles,
    )
    const ancestors = blocks.slice(0, index).map((before) => ({ header: decode(before)[0], hash: random.bytes(32) }))
    const context = {
      random,
      rules,
      number,
      positions: rules.positions(number),
      parentTime: 5n,
      parentLimit: 10_000_000n,
      ancestors,
    }
    mutate(block, context)
    return block.encode(rules).toString('hex')
  })
}

test('behavior: equal seeds give equal mutants, different seeds different ones', () => {
  expect(mutants(7)).toEqual(mutants(7))
  expect(mutants(7)).not.toEqual(mutants(8))
})

test('behavior: the hash for merged mining is in the coinbase of real blocks', () => {
  let found = 0
  for (const raw of blocks) {
    const [header] = decode(raw)
    const positions = rules.positions(Number(numberOf(header[field.number])))
    const committed = Buffer.concat([tag, miningHash(header, positions)])
    if (header[positions.bitcoinCoinbase].includes(committed)) found++
  }
  expect(found).toBeGreaterThan(blocks.length / 2)
})

test('behavior: a block that is sealed again has a proof of work', () => {
  const [header, transactions, uncles] = decode(blocks[3])
  const positions = rules.positions(4)
  const block = new Mutable(
    header,
    transactions.map((fields) => ({ fields })),
    uncles,
  )
  block.header[field.extraData] = Buffer.from('other')
  block.plain(rules)
  const [bitcoin, , coinbase] = block.header.slice(positions.bitcoinHeader)
  expect(coinbase.includes(miningHash(block.header, positions))).toBe(true)
  expect(bitcoin.subarray(36, 68)).toEqual(sha256(sha256From(coinbase.subarray(0, 40), coinbase.subarray(40))))
  expect(numberOf(Buffer.from(sha256d(bitcoin)).reverse())).toBeLessThanOrEqual(2n ** 256n / 3n)
})

test('behavior: SHA-256 continues from the state of the empty message', () => {
  const start = '00000000000000006a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19'
  for (const length of [0, 3, 55, 56, 64, 200]) {
    const message = Buffer.alloc(length, 7)
    expect(sha256From(Buffer.from(start, 'hex'), message)).toEqual(sha256(message))
  }
})

test('behavior: a longer length keeps the value', () => {
  expect(encode(lengthened(Buffer.from('aa', 'hex'), 2)).toString('hex')).toBe('b90001aa')
  expect(encode(lengthened([Buffer.from('01', 'hex')], 1)).toString('hex')).toBe('f80101')
  expect(read([Buffer.from('01', 'hex')]).toString('hex')).toBe('c101')
})
