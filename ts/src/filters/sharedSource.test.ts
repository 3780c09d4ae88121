import { describe, expect, test } from 'vitest'
import type { Cursor, Movement } from '../native/feed.ts'
import { RpcError } from '../rpc/errors.ts'
import { MemoryBudget, sharedCounters } from '../rpc/memoryBudget.ts'
import { MemoryFilters } from './memoryStore.ts'
import { FilterRegistry } from './registry.ts'
import { sharedSource } from './sharedSource.ts'
import type { FilterSource } from './source.ts'

const noLimit = Number.POSITIVE_INFINITY

/** All blocks of all nodes by hash; each has its parent. */
const parents = new Map<string, string>()

/** Chain of one node: knows the blocks it received; the last received block is its head. */
class Chain {
  readonly #known = new Set<string>(['g'])
  main: string[] = ['g']

  /** Adds blocks on top of a known block; the last becomes the head. */
  grow(parent: string, ...hashes: string[]): void {
    let below = parent
    for (const hash of hashes) {
      parents.set(hash, below)
      this.#known.add(hash)
      below = hash
    }
    this.main = [below]
    for (let at = below; at !== 'g'; ) {
      at = parents.get(at) ?? 'g'
      this.main.unshift(at)
    }
  }

  isKnown = (hash: string): boolean => this.#known.has(hash)

  /** Like the core: an unknown block counts as the main chain block of its height. */
  #movementSince({ number, hash }: Cursor, most = 10_000): Movement {
    const removed: string[] = []
    let [height, at] = [number, hash]
    while (this.isKnown(at) && this.main[height] !== at) {
      removed.push(at)
      at = parents.get(at) ?? 'g'
      height--
    }
    const fork = this.isKnown(at) ? height : Math.min(height, this.main.length - 1)
    const hashes = this.main.slice(fork + 1, fork + 1 + most)
    return { hashes, removed, cursor: this.#cursor(fork + hashes.length) }
  }

  #cursor(number: number): Cursor {
    return { number, hash: this.main[number] ?? '' }
  }

  #head(): Cursor {
    return this.#cursor(this.main.length - 1)
  }

  source(): FilterSource {
    return {
      head: () => this.#head(),
      taggedHeight: () => 0,
      movementSince: (cursor, most) => this.#movementSince(cursor, most),
      mainCursor: (number) => this.#cursor(number),
      branchCursor: ({ number }, hashes) => ({ number: number + hashes.length, hash: hashes.at(-1) ?? '' }),
      pendingPosition: () => 0,
      pendingSince: (position) => ({ hashes: [], position }),
      beforePoll: () => Promise.resolve(),
      logs: async (filter) => {
        const { fromBlock, toBlock } = JSON.parse(filter) as { fromBlock: string; toBlock: string }
        return JSON.stringify(this.main.slice(Number(fromBlock), Number(toBlock) + 1))
      },
      removedLogs: async (blocks, _filter, maxBytes) => {
        const text = JSON.stringify(blocks.map((hash) => `-${hash}`))
        if (text.length > maxBytes) throw new RpcError(-32012, 'too large')
        return text
      },
    }
  }
}

function nodeOf(store: MemoryFilters, name: string) {
  const chain = new Chain()
  const registry = new FilterRegistry(sharedSource(chain.source(), chain.isKnown), store, name)
  const poll = async (id: string, maxBytes = noLimit) => JSON.parse(await registry.changes(id, maxBytes)) as string[]
  return { chain, registry, poll }
}

function twoNodes() {
  const store = new MemoryFilters({ expiryMs: 1e9, maximum: 100 }, new MemoryBudget(sharedCounters(1), 0, 2 ** 30))
  const [a, b] = [nodeOf(store, 'a'), nodeOf(store, 'b')]
  return { a, b, both: [a, b] }
}

const idOf = (text: string) => JSON.parse(text) as string
const names = (letter: string, count: number, from = 1) =>
  Array.from({ length: count }, (_none, index) => `${letter}${index + from}`)

describe('a cursor on a block that a node does not have', () => {
  test('behavior: a node that is behind returns nothing until it has caught up, then only new blocks', async () => {
    const { a, b } = twoNodes()
    const blocks = idOf(await a.registry.newBlockFilter('a'))
    const logs = idOf(await a.registry.newLogFilter({}, 'a', noLimit))
    a.chain.grow('g', ...names('x', 5))
    b.chain.grow('g', 'x1', 'x2')
    expect(await a.poll(blocks)).toEqual(names('x', 5))
    expect(await a.poll(logs)).toEqual(names('x', 5))
    for (const upTo of [2, 3, 4, 5]) {
      b.chain.grow('g', ...names('x', upTo))
      expect(await b.poll(blocks)).toEqual([])
      expect(await b.poll(logs)).toEqual([])
    }
    b.chain.grow('g', ...names('x', 7))
    expect(await b.poll(blocks)).toEqual(['x6', 'x7'])
    expect(await b.poll(logs)).toEqual(['x6', 'x7'])
    a.chain.grow('g', ...names('x', 7))
    expect(await a.poll(logs)).toEqual([])
  })

  test('behavior: a node returns a reorganization if it has both branches', async () => {
    const { a, b, both } = twoNodes()
    for (const { chain } of both) chain.grow('g', 'x1', 'x2')
    const logs = idOf(await a.registry.newLogFilter({}, 'a', noLimit))
    for (const { chain } of both) chain.grow('x2', 'x3', 'x4')
    expect(await a.poll(logs)).toEqual(['x3', 'x4'])
    for (const { chain } of both) chain.grow('x2', 'y3', 'y4', 'y5')
    expect(await b.poll(logs)).toEqual(['-x4', '-x3', 'y3', 'y4', 'y5'])
    expect(await a.poll(logs)).toEqual([])
  })

  test('behavior: an abandoned block that never arrived: continues from the fork once the chain is longer', async () => {
    const { a, b, both } = twoNodes()
    for (const { chain } of both) chain.grow('g', 'x1', 'x2', 'x3')
    const logs = idOf(await a.registry.newLogFilter({}, 'a', noLimit))
    const blocks = idOf(await a.registry.newBlockFilter('a'))
    for (const { chain } of both) chain.grow('x3', 'x4')
    a.chain.grow('x4', 'x5', 'x6')
    expect(await a.poll(logs)).toEqual(['x4', 'x5', 'x6'])
    expect(await a.poll(blocks)).toEqual(['x4', 'x5', 'x6'])
    b.chain.grow('x3', 'y4', 'y5', 'y6')
    expect(await b.poll(logs)).toEqual([])
    b.chain.grow('y6', 'y7')
    // x4 is known here and removed; x5 and x6 are unknown.
    expect(await b.poll(logs)).toEqual(['-x4', 'y4', 'y5', 'y6', 'y7'])
    expect(await b.poll(blocks)).toEqual(['y4', 'y5', 'y6', 'y7'])
    a.chain.grow('x3', 'y4', 'y5', 'y6', 'y7')
    expect(await a.poll(logs)).toEqual([])
  })

  test('behavior: after a part of the removed logs another node continues at the fork', async () => {
    const { a, b, both } = twoNodes()
    for (const { chain } of both) chain.grow('g', 'x1')
    const [first, second] = [
      idOf(await a.registry.newLogFilter({}, 'a', noLimit)),
      idOf(await a.registry.newLogFilter({}, 'a', noLimit)),
    ]
    a.chain.grow('x1', 'x2', 'x3', 'x4', 'x5')
    for (const id of [first, second]) expect(await a.poll(id)).toEqual(['x2', 'x3', 'x4', 'x5'])
    for (const { chain } of both) chain.grow('x1', ...names('y', 5, 2))
    for (const id of [first, second]) expect(await a.poll(id, 15)).toEqual(['-x5', '-x4'])
    // One node has the branch, the other only the fork.
    expect(await a.poll(first)).toEqual(['-x3', '-x2', ...names('y', 5, 2)])
    expect(await b.poll(second)).toEqual(names('y', 5, 2))
  })

  test('behavior: removed blocks outside the range of a filter are skipped, from any cursor', async () => {
    const { a, b, both } = twoNodes()
    for (const { chain } of both) chain.grow('g', 'x1', 'x2', 'x3')
    const logs = idOf(await a.registry.newLogFilter({ fromBlock: '0x2', toBlock: '0x2' }, 'a', noLimit))
    a.chain.grow('x3', 'x4')
    expect(await a.poll(logs)).toEqual(['x2'])
    b.chain.grow('g', ...names('y', 6))
    expect(await b.poll(logs)).toEqual(['-x2', 'y2'])
  })

  test('behavior: a fork below the trail continues at the end of the trail', async () => {
    const { a, b } = twoNodes()
    const blocks = idOf(await a.registry.newBlockFilter('a'))
    a.chain.grow('g', ...names('x', 50))
    expect(await a.poll(blocks)).toHaveLength(50)
    b.chain.grow('g', ...names('y', 52))
    const told = await b.poll(blocks)
    expect(told.at(-1)).toBe('y52')
    expect(told).toHaveLength(52 - (50 - 31))
  })

  test('behavior: a block filter returns the blocks since its installation, at either node', async () => {
    const { a, b, both } = twoNodes()
    for (const { chain } of both) chain.grow('g', 'x1')
    const blocks = idOf(await a.registry.newBlockFilter('a'))
    for (const { chain } of both) chain.grow('x1', 'x2', 'x3')
    await a.poll(blocks)
    for (const { registry } of both) expect(JSON.parse(await registry.logs(blocks, noLimit))).toEqual(['x2', 'x3'])
    b.chain.grow('x1', 'y2', 'y3', 'y4')
    expect(JSON.parse(await b.registry.logs(blocks, noLimit))).toEqual(['y2', 'y3', 'y4'])
  })
})

describe('a poll without a reply from the store', () => {
  /** Fails, with or without advancing the cursor. */
  class LosingFilters extends MemoryFilters {
    /** Outcomes of the next calls: done without a reply, not done, or done. */
    fates: ('lost' | 'not done')[] = []

    override async advance(id: string, from: string, to: string): Promise<boolean> {
      const fate = this.fates.shift()
      const isDone = fate !== 'not done' && (await super.advance(id, from, to))
      if (fate !== undefined) throw new TypeError(fate)
      return isDone
    }
  }

  test.each([
    [['lost']],
    [['not done']],
    [['lost', 'lost']],
    [['lost', 'not done']],
    [['not done', 'lost', 'not done', 'lost', 'lost']],
  ] as ('lost' | 'not done')[][][])('behavior: is told by the next one: %j', async (fates) => {
    const store = new LosingFilters({ expiryMs: 1e9, maximum: 100 }, new MemoryBudget(sharedCounters(1), 0, 2 ** 30))
    const { chain, registry, poll } = nodeOf(store, 'a')
    const id = idOf(await registry.newLogFilter({}, 'a', noLimit))
    chain.grow('g', 'x1')
    expect(await poll(id)).toEqual(['x1'])
    let head = 1
    for (const fate of fates) {
      chain.grow(`x${head}`, `x${++head}`)
      store.fates = [fate]
      await expect(poll(id)).rejects.toThrow(fate)
    }
    expect(await poll(id)).toEqual(names('x', head - 1, 2))
    expect(await poll(id)).toEqual([])
    chain.grow(`x${head}`, 'y')
    expect(await poll(id)).toEqual(['y'])
  })

  test('behavior: is not repeated after another node has advanced the filter', async () => {
    const store = new LosingFilters({ expiryMs: 1e9, maximum: 100 }, new MemoryBudget(sharedCounters(1), 0, 2 ** 30))
    const [a, b] = [nodeOf(store, 'a'), nodeOf(store, 'b')]
    const id = idOf(await a.registry.newLogFilter({}, 'a', noLimit))
    for (const { chain } of [a, b]) chain.grow('g', 'x1')
    store.fates = ['lost']
    await expect(a.poll(id)).rejects.toThrow('lost')
    for (const { chain } of [a, b]) chain.grow('x1', 'x2')
    expect(await b.poll(id)).toEqual(['x2'])
    expect(await a.poll(id)).toEqual([])
  })
})

test('behavior: concurrent polls at several nodes return everything once', async () => {
  const { a, b, both } = twoNodes()
  const id = idOf(await a.registry.newLogFilter({}, 'a', noLimit))
  const told: string[] = []
  for (let height = 1; height <= 20; height++) {
    for (const { chain } of both) chain.grow(height === 1 ? 'g' : `x${height - 1}`, `x${height}`)
    const polls = [a.poll(id), b.poll(id), a.poll(id), b.poll(id), b.poll(id)]
    for (const one of await Promise.all(polls)) told.push(...one)
  }
  expect(told).toEqual(names('x', 20))
})
