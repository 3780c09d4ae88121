import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 as keccakOf } from '@noble/hashes/sha3.js'
import { describe, expect, test } from 'vitest'
import { bigEndian, bytesOf, concat, type Hex, hexOf, lastIndexOf, unsigned } from './bytes.ts'
import { decodeHeader, readHeader } from './header.ts'
import { type AccountProof, networks, VerificationError, verifyAccountProof, verifyHeader } from './index.ts'
import { encode } from './rlp.ts'
import { sha256From } from './sha256.ts'
import { walk } from './trie.ts'

// Golden data, recorded from the reference node and from the public networks.

function vectors<T>(name: string): { cases: T[] } {
  const path = new URL(`../../../tests/vectors/${name}`, import.meta.url)
  const bytes = readFileSync(path)
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString())
}

interface HeaderCase {
  readonly label?: string
  readonly net: string
  readonly raw: string
  readonly decodes: boolean
  readonly canonical?: boolean
  readonly number: number
  readonly hash: string
  readonly powValid: boolean
  readonly powReason?: string
  readonly fields: { stateRoot: string; receiptsRoot: string; timestamp: number; difficulty: string }
}

const names = {
  main: 'mainnet',
  testnet: 'testnet',
  testnet2: 'testnet2',
  regtest: 'regtest',
  devnet: 'devnet',
} as const
const network = (one: { net: string }) => names[one.net as keyof typeof names]
const raw = (one: { raw: string }): Hex => `0x${one.raw}`

/** Returns the fault of a verification that must fail. */
function faultOf(attempt: () => unknown): string | undefined {
  try {
    attempt()
  } catch (error) {
    if (error instanceof VerificationError) return error.fault
    throw error
  }
  return undefined
}

describe('headers', () => {
  const real = vectors<HeaderCase>('blocks/headers_real.json.gz').cases

  test('behavior: headers of the public networks', () => {
    expect(real.length).toBe(38)
    for (const one of real) {
      const header = verifyHeader(raw(one), network(one))
      expect(header).toMatchObject({
        hash: `0x${one.hash}`,
        number: BigInt(one.number),
        stateRoot: `0x${one.fields.stateRoot}`,
        receiptsRoot: `0x${one.fields.receiptsRoot}`,
        timestamp: BigInt(one.fields.timestamp),
        difficulty: BigInt(one.fields.difficulty),
      })
    }
  })

  test('behavior: both forms of Merkle proofs and all versions', () => {
    const valid = vectors<HeaderCase>('blocks/pow.json.gz').cases.filter((one) => one.powValid)
    const isOld = (one: HeaderCase) => one.net === 'main' && one.number < networks.mainnet.rskip92
    expect(valid.some(isOld)).toBe(true)
    expect(real.some((one) => one.net === 'main' && !isOld(one))).toBe(true)
    expect(real.some((one) => one.net === 'testnet' && one.number >= networks.testnet.rskip351)).toBe(true)
    const oldOne = valid.find(isOld) as HeaderCase
    expect(verifyHeader(raw(oldOne), 'mainnet').hash).toBe(`0x${oldOne.hash}`)
  })

  test('error: every changed byte of a header', () => {
    const versions = [real.find((one) => one.net === 'main'), real.find((one) => one.net === 'testnet')]
    for (const one of versions as HeaderCase[]) {
      const bytes = bytesOf(raw(one), 'header')
      for (let at = 0; at < bytes.length; at++) {
        const changed = bytes.with(at, (bytes[at] as number) ^ (1 << (at % 8)))
        expect(faultOf(() => verifyHeader(hexOf(changed), network(one)))).toBeDefined()
      }
      expect(faultOf(() => verifyHeader(hexOf(bytes.subarray(0, -1)), network(one)))).toBe('malformed')
      expect(faultOf(() => verifyHeader(hexOf(concat(bytes, Uint8Array.of(0))), network(one)))).toBe('malformed')
    }
  })

  test('behavior: hashes headers of every form; rejects non-canonical encodings', () => {
    const { cases } = vectors<HeaderCase>('blocks/headers.json.gz')
    let read = 0
    for (const one of cases) {
      const fault = faultOf(() => {
        const header = decodeHeader(raw(one), network(one))
        expect([one.label, one.decodes, header.hash]).toEqual([one.label, true, `0x${one.hash}`])
        read++
      })
      const isCanonical = one.decodes && one.canonical !== false
      const isShort = one.label !== undefined && /length|bytes|empty|parent/.test(one.label)
      if (fault !== undefined && isCanonical && !isShort) expect([one.label, one.number, fault]).toEqual([])
    }
    expect(read).toBeGreaterThan(150)
  })

  test('behavior: verdicts on proofs of work, with the step that failed', () => {
    const { cases } = vectors<HeaderCase>('blocks/pow.json.gz')
    for (const one of cases) {
      const fault = faultOf(() => verifyHeader(raw(one), network(one)))
      const got = { label: one.label, net: one.net, number: one.number, isValid: fault === undefined, fault }
      const isKnown = one.powReason !== undefined && one.powReason !== 'exception'
      expect(got).toMatchObject({ isValid: one.powValid, ...(isKnown && { fault: one.powReason }) })
    }
  })

  test('behavior: heights are those of the node', () => {
    const { cases } = vectors<{ net: string; rules: Record<string, number> }>('blocks/activations.json')
    expect(cases.map(network).sort()).toEqual(Object.keys(networks).sort())
    for (const one of cases) {
      const { baseEventRequiredFrom: _, ...rules } = { baseEventRequiredFrom: 0, ...networks[network(one)] }
      for (const [rule, height] of Object.entries(rules)) expect([rule, one.rules[rule]]).toEqual([rule, height ?? -1])
    }
  })

  test('behavior: SHA-256 continues from a midstate', () => {
    const message = Uint8Array.from({ length: 300 }, (_none, index) => index * 7)
    // A midstate is the state after a whole number of blocks; here it is computed from the start of the message.
    const start = bytesOf('0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19', 'state')
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 300]) {
      expect(sha256From(start, 0n, message.subarray(0, length))).toEqual(sha256(message.subarray(0, length)))
    }
    expect(readHeader(raw(real[0] as HeaderCase), networks.testnet).coinbase.length).toBeGreaterThan(40)
  })
})

interface Listed {
  readonly key: string
  readonly value: string | null
  /** Proof nodes, deepest first. */
  readonly nodes: readonly string[]
}

interface ProofCase {
  readonly name: string
  readonly root: string
  readonly proofs?: readonly Listed[]
  readonly accounts?: readonly {
    readonly address: string
    readonly account: Listed
    readonly code: Listed
    readonly storageHash: string
    readonly storage: readonly { readonly slot: string; readonly proof: Listed }[]
  }[]
}

describe('proofs', () => {
  const { cases } = vectors<ProofCase>('state/proofs.json.gz')
  const plain = cases.flatMap(({ root, proofs = [] }) => proofs.map((proof) => ({ root, proof })))
  const accounts = cases.flatMap(({ root, accounts = [] }) => accounts.map((account) => ({ root, account })))
  const bytes = (text: string) => bytesOf(`0x${text}`, 'vector')
  const nodesOf = (listed: Listed) => listed.nodes.map(bytes).reverse()
  const prove = (root: string, { key }: Listed, nodes: Uint8Array[]) => walk(bytes(root), bytes(key), 0, nodes)?.value

  test('behavior: values, their absence, and hashes of long values', () => {
    expect(plain.length).toBe(80)
    for (const { root, proof } of plain) {
      const value = prove(root, proof, nodesOf(proof))
      if (proof.value === null) expect(value).toBeUndefined()
      else if (value !== undefined && 'bytes' in value) expect(hexOf(value.bytes)).toBe(`0x${proof.value}`)
      else expect(value?.length).toBe(proof.value.length / 2)
    }
  })

  test('error: every changed byte, every node left out or added', () => {
    for (const { root, proof } of plain) {
      const nodes = nodesOf(proof)
      for (const [index, node] of nodes.entries()) {
        for (let at = 0; at < node.length; at++) {
          const changed = nodes.with(index, node.with(at, (node[at] as number) ^ 0x10))
          expect(faultOf(() => prove(root, proof, changed))).toBe('proof')
        }
        expect(faultOf(() => prove(root, proof, nodes.toSpliced(index, 1)))).toBe('proof')
        expect(faultOf(() => prove(root, proof, nodes.toSpliced(index, 0, node)))).toBe('proof')
      }
      expect(
        faultOf(() =>
          prove(
            root.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
            proof,
            nodes,
          ),
        ),
      ).toBe('proof')
    }
  })

  /** Returns the answer of eth_getProof. */
  function answerFor({ account }: (typeof accounts)[number]): AccountProof {
    const wrapped = (nodes: Uint8Array[]) => nodes.map((node) => hexOf(encode(node)))
    const above = account.account.nodes.length
    const value = account.account.value === null ? Uint8Array.of(0xc2, 0x80, 0) : bytes(account.account.value)
    const nonce = value[1] === 0x80 ? 0 : (value[1] as number)
    const balance = value[2] as number
    const code = account.code.value === null ? new Uint8Array() : bytes(account.code.value)
    return {
      address: `0x${account.address}`,
      accountProof: wrapped(nodesOf(account.account)),
      nonce: `0x${nonce.toString(16)}`,
      balance: `0x${unsigned(balance < 0x80 ? Uint8Array.of(balance) : value.subarray(3)).toString(16)}`,
      codeHash: hexOf(keccakOf(code)),
      storageHash: `0x${account.storageHash}`,
      storageProof: account.storage.map(({ slot, proof }) => ({
        key: `0x${BigInt(`0x${slot}`).toString(16)}`,
        value: `0x${proof.value === null || proof.value === '' ? '0' : unsigned(bytes(proof.value)).toString(16)}`,
        proof: account.account.value === null ? [] : wrapped(nodesOf(proof).slice(above)),
      })),
    }
  }

  test('behavior: accounts with their code and storage, and accounts that are not there', () => {
    for (const one of accounts) {
      const proof = answerFor(one)
      const storageKeys = one.account.storage.map(({ slot }) => `0x${slot}`)
      const verified = verifyAccountProof(
        { stateRoot: `0x${one.root}` },
        { address: proof.address, storageKeys },
        proof,
      )
      expect(verified.exists).toBe(one.account.account.value !== null)
      expect(verified.storage).toEqual(proof.storageProof.map(({ value }) => BigInt(value)))
    }
    expect(accounts.filter(({ account }) => account.account.value === null).length).toBe(3)
    expect(accounts.flatMap(({ account }) => account.storage).length).toBeGreaterThan(10)
  })

  test('error: every changed byte of every element and every changed claim', () => {
    for (const one of accounts) {
      const proof = answerFor(one)
      const storageKeys = one.account.storage.map(({ slot }) => `0x${slot}`)
      const check = (changed: AccountProof) =>
        faultOf(() =>
          verifyAccountProof({ stateRoot: `0x${one.root}` }, { address: proof.address, storageKeys }, changed),
        )
      for (const [index, element] of proof.accountProof.entries()) {
        for (const accountElement of changes(element)) {
          expect(check({ ...proof, accountProof: proof.accountProof.with(index, accountElement) })).toBeDefined()
        }
      }
      for (const [index, cell] of proof.storageProof.entries()) {
        const withCell = (changed: Partial<typeof cell>) => ({
          ...proof,
          storageProof: proof.storageProof.with(index, { ...cell, ...changed }),
        })
        for (const [at, element] of cell.proof.entries()) {
          for (const changed of changes(element)) {
            expect(check(withCell({ proof: cell.proof.with(at, changed) }))).toBeDefined()
          }
        }
        expect(check(withCell({ value: BigInt(cell.value) + 1n }))).toBe('claim')
        expect(check(withCell({ key: `0x${(BigInt(cell.key) + 1n).toString(16)}` }))).toBe('claim')
      }
      const other = `0x${'ab'.repeat(32)}`
      expect(check({ ...proof, balance: BigInt(proof.balance) + 1n })).toBe('claim')
      expect(check({ ...proof, nonce: BigInt(proof.nonce) + 1n })).toBe('claim')
      expect(check({ ...proof, codeHash: other })).toBe('claim')
      expect(check({ ...proof, storageHash: other })).toBe('claim')
      expect(check({ ...proof, address: `0x${'ab'.repeat(20)}` })).toBe('claim')
      expect(check({ ...proof, storageProof: [...proof.storageProof, ...proof.storageProof, {} as never] })).toBe(
        'claim',
      )
    }
  })

  /** Returns copies of an element, each with one byte changed. */
  function* changes(element: string): Generator<Hex> {
    const whole = bytesOf(element, 'element')
    for (let at = 0; at < whole.length; at++) yield hexOf(whole.with(at, (whole[at] as number) ^ (1 << (at % 8))))
  }
})

test('behavior: numbers as bytes and back', () => {
  for (const value of [0n, 1n, 127n, 128n, 255n, 256n, 2n ** 200n]) {
    expect(unsigned(bigEndian(value))).toBe(value)
    expect(unsigned(bigEndian(value, 32))).toBe(value)
  }
  expect(faultOf(() => bigEndian(256n, 1))).toBe('malformed')
  expect(lastIndexOf(Uint8Array.of(1, 2, 1, 2), Uint8Array.of(1, 2))).toBe(2)
})
