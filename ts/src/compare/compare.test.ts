import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { commonBlocks } from './commonChain.ts'
import { compareNodes } from './compare.ts'
import { differencesOf } from './differences.ts'
import { type Answer, Endpoint } from './endpoint.ts'

interface FakeChain {
  readonly height: number
  /** First stored block besides genesis. */
  readonly stored?: number
  /** First block with receipts. */
  readonly executed?: number
  /** Answer to all searches for logs, if they are refused. */
  readonly logs?: { readonly code: number; readonly message: string }
  /** First block that the other chain does not have. */
  readonly branch?: number
  /** Milliseconds before an answer, by its number. */
  readonly delay?: (answer: number) => number
}

/** A node with a chain of blocks of two transactions, without a socket. */
class FakeNode extends Endpoint {
  readonly requests: string[] = []
  readonly #chain: FakeChain

  constructor(chain: FakeChain) {
    super('http://fake')
    this.#chain = chain
  }

  override async ask(method: string, params: readonly unknown[]): Promise<Answer> {
    this.requests.push(JSON.stringify([method, ...params]))
    const { height, stored = 0, executed = 0, logs, delay } = this.#chain
    if (delay !== undefined) await sleep(delay(this.requests.length))
    if (method === 'eth_blockNumber') return { result: `0x${height.toString(16)}` }
    if (method === 'eth_getLogs') {
      if (logs !== undefined) return { error: logs }
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      // Genesis has no receipts.
      const [from, to] = [Math.max(1, Number(fromBlock)), Number(toBlock)]
      if (from >= executed || Number(fromBlock) > to || to === 0) return { result: [] }
      return { error: { code: -32000, message: `receipts of block ${from} are not stored` } }
    }
    if (method !== 'eth_getBlockByNumber') return { result: [] }
    const number = Number(params[0])
    const isStored = number <= height && (number === 0 || number >= stored)
    return { result: isStored ? this.#block(number) : null }
  }

  #block(number: number): object {
    const branch = number >= (this.#chain.branch ?? Number.POSITIVE_INFINITY) ? 'branch' : ''
    const transactions = [0, 1].map((index) => ({
      hash: `0x${number}${index}`,
      blockNumber: `0x${number.toString(16)}`,
      transactionIndex: `0x${index}`,
      from: `0xfrom${number}`,
      to: `0xto${number}`,
      gas: '0x5208',
      value: '0x0',
      input: '0x',
    }))
    return { number: `0x${number.toString(16)}`, hash: `0x${branch}${number}`, uncles: [], transactions }
  }
}

describe('common blocks', () => {
  const common = (own: FakeChain, reference: FakeChain) => commonBlocks(new FakeNode(own), new FakeNode(reference))

  test('behavior: up to the lower head', async () => {
    expect(await common({ height: 1000 }, { height: 700 })).toEqual({ first: 0, last: 700 })
    expect(await common({ height: 0 }, { height: 700 })).toEqual({ first: 0, last: 0 })
  })

  test('behavior: up to the fork of two branches', async () => {
    expect(await common({ height: 1000, branch: 996 }, { height: 1000 })).toEqual({ first: 0, last: 995 })
    expect(await common({ height: 1000 }, { height: 1003, branch: 1 })).toEqual({ first: 0, last: 0 })
  })

  test('behavior: from the first stored or executed block on', async () => {
    const taken = { height: 100_000, stored: 84_001, executed: 90_001, branch: 99_990 }
    expect(await common(taken, { height: 100_010 })).toEqual({ first: 90_001, last: 99_989 })
    expect(await common({ height: 100_000 }, { height: 99_000, stored: 95_000 })).toEqual({
      first: 95_000,
      last: 99_000,
    })
    expect(await common({ height: 90_000, stored: 84_001, executed: 90_001 }, { height: 100_000 })).toEqual({
      first: 90_000,
      last: 90_000,
    })
    // Older blocks are stored without receipts.
    const complete = { height: 100_000, executed: 90_001 }
    expect(await common(complete, { height: 100_000 })).toEqual({ first: 90_001, last: 100_000 })
    expect(await common(complete, { height: 100_000, executed: 95_000 })).toEqual({ first: 95_000, last: 100_000 })
    expect(await common({ height: 1, executed: 2 }, { height: 1 })).toEqual({ first: 1, last: 1 })
  })

  test('behavior: a node with all receipts is asked for one search', async () => {
    const nodes = [new FakeNode({ height: 100_000 }), new FakeNode({ height: 100_000 })] as const
    expect(await commonBlocks(...nodes)).toEqual({ first: 0, last: 100_000 })
    for (const { requests } of nodes) {
      expect(requests.filter((request) => request.includes('eth_getLogs'))).toHaveLength(1)
    }
  })

  test('behavior: refused searches say nothing about receipts', async () => {
    const logs = { code: -32601, message: 'method not found' }
    expect(await common({ height: 1000, logs }, { height: 700 })).toEqual({ first: 0, last: 700 })
  })
})

test('behavior: a seed makes the same requests, in whatever order answers arrive', async () => {
  const runs = [() => 0, (answer: number) => (answer * 7) % 5, (answer: number) => (answer * 3) % 4]
  const [first, ...others] = await Promise.all(
    runs.map(async (delay) => {
      const own = new FakeNode({ height: 5000 })
      const options = { methods: ['eth_getBalance', 'eth_getCode', 'eth_getLogs'], requests: 30, seed: 7 }
      const ignore = () => undefined
      const { requests } = await compareNodes(own, new FakeNode({ height: 5000, delay }), options, ignore, ignore)
      expect(requests).toBe(30)
      return own.requests.filter((request) => /eth_get(Balance|Code|Logs)/.test(request)).sort()
    }),
  )
  for (const other of others) expect(other).toEqual(first)
})

test('behavior: lists differ by an element, or by their length', () => {
  const differences = (own: unknown, reference: unknown) =>
    differencesOf('eth_getLogs', { result: own }, { result: reference }).map(({ path }) => path)
  expect(differences([], [])).toEqual([])
  expect(differences([{ a: 1 }, 2], [{ a: 1 }, 3])).toEqual(['result[1]'])
  expect(differences([], [1])).toEqual(['result'])
  expect(differences({ list: [] }, { list: null })).toEqual(['result.list'])
})
