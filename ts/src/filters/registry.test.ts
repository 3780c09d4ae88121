import { describe, expect, test } from 'vitest'
import type { Cursor } from '../native/feed.ts'
import { RpcError } from '../rpc/errors.ts'
import { MemoryBudget, sharedCounters } from '../rpc/memoryBudget.ts'
import type { LogFilter } from '../rpc/parameters/logFilter.ts'
import { MemoryFilters } from './memoryStore.ts'
import { answerQuestion, type FilterQuestion, RemoteFilters } from './port.ts'
import { FilterRegistry } from './registry.ts'
import type { FilterSource } from './source.ts'

const noLimit = Number.POSITIVE_INFINITY

/** Chain of blocks with one log each that can grow and fork. */
class Chain implements FilterSource {
  blocks: string[] = ['g']
  pending: string[] = []
  queries: unknown[] = []
  mined = 0
  readonly #numbers = new Map<string, number>([['g', 0]])

  mine(...hashes: string[]): void {
    for (const hash of hashes) {
      this.#numbers.set(hash, this.blocks.length)
      this.blocks.push(hash)
    }
  }

  fork(height: number, ...hashes: string[]): void {
    this.blocks.length = height + 1
    this.mine(...hashes)
  }

  head(): Cursor {
    return { number: this.blocks.length - 1, hash: this.blocks.at(-1) ?? '' }
  }

  taggedHeight(tag: string): number {
    return Math.max(0, this.head().number - (tag === 'safe' ? 1 : 2))
  }

  // Blocks of abandoned branches, which the names alone do not give.
  branches = new Map<string, string[]>()

  movementSince(cursor: Cursor, most = 100) {
    const branch = this.branches.get(cursor.hash) ?? this.blocks.slice(0, cursor.number + 1)
    let common = cursor.number
    while (branch[common] !== this.blocks[common]) common--
    const removed = branch.slice(common + 1, cursor.number + 1).reverse()
    const hashes = this.blocks.slice(common + 1, common + 1 + most)
    const number = common + hashes.length
    return { hashes, removed, cursor: { number, hash: this.blocks[number] ?? '' } }
  }

  mainCursor(number: number): Cursor {
    return { number, hash: this.blocks[number] ?? '' }
  }

  branchCursor(fork: Cursor, hashes: readonly string[]): Cursor {
    return { number: fork.number + hashes.length, hash: hashes.at(-1) ?? '' }
  }

  pendingPosition(): number {
    return this.pending.length
  }

  pendingSince(position: number) {
    return { hashes: this.pending.slice(position), position: this.pending.length }
  }

  beforeSearch: () => void = () => undefined

  async logs(filter: string, maxBytes: number): Promise<string> {
    const act = this.beforeSearch
    this.beforeSearch = () => undefined
    act()
    const query = JSON.parse(filter) as LogFilter
    this.queries.push(query)
    const head = this.blocks.length - 1
    const from = query.fromBlock === 'earliest' ? 0 : Number(query.fromBlock ?? head)
    const to = Number(query.toBlock ?? head)
    const found = query.blockHash === undefined ? this.blocks.slice(from, to + 1) : [query.blockHash]
    const text = this.#logsOf(found, false)
    if (text.length <= maxBytes) return text
    // As in the core: the error names the range that fits.
    const fitting =
      from + found.findLastIndex((_, index) => this.#logsOf(found.slice(0, index), false).length <= maxBytes) - 1
    throw new RpcError(-32011, 'too large', { toBlock: fitting < from ? null : `0x${fitting.toString(16)}` })
  }

  /** Numbers of logs of blocks with several: a1, a2 ... */
  counts = new Map<string, number>()

  #logsOf(blocks: readonly string[], removed: boolean): string {
    const names = blocks.flatMap((hash) => {
      const count = this.counts.get(hash)
      return count === undefined ? [hash] : Array.from({ length: count }, (_, index) => `${hash}${index + 1}`)
    })
    return JSON.stringify(names.map((log) => ({ log, removed })))
  }

  async removedLogs(blocks: readonly string[], _filter: string, maxBytes: number): Promise<string> {
    const text = this.#logsOf(blocks, true)
    // As in the core: without the range that fits.
    if (text.length > maxBytes) throw new RpcError(-32012, 'too large')
    return text
  }

  async beforePoll(): Promise<void> {
    this.mined++
  }
}

function setUp(maximum = 3) {
  const chain = new Chain()
  let now = 0
  let ids = 0
  const memory = new MemoryBudget(sharedCounters(1), 0, 2 ** 20)
  const store = new MemoryFilters(
    { expiryMs: 100, maximum },
    memory,
    () => now,
    () => `0x${++ids}`,
  )
  const registry = new FilterRegistry(chain, store, 'one')
  const poll = async (id: string, maxBytes = noLimit) => JSON.parse(await registry.changes(id, maxBytes)) as unknown
  return {
    memory,
    chain,
    store,
    registry,
    poll,
    at: (ms: number) => {
      now = ms
    },
  }
}

const logs = (...names: string[]) =>
  names.map((name) => ({ log: name.replace('-', ''), removed: name.startsWith('-') }))

test('error: the bytes of filters are limited, uninstalling releases them', async () => {
  const { registry, memory, at } = setUp(1000)
  const large = (client: string) =>
    registry.newLogFilter({ address: Array(1000).fill(`0x${'ab'.repeat(20)}`) }, client, noLimit)
  for (let client = 0; client < 22; client++) await large(String(client))
  await expect(large('last')).rejects.toThrow('Too many filters: they take all memory')
  await registry.uninstall('0x1')
  await large('last')
  expect(memory.bytes).toBeGreaterThan(800_000)
  at(1000)
  await large('later')
  expect(memory.bytes).toBeLessThan(200_000)
})

describe('log filters', () => {
  test('behavior: the first poll returns existing logs, later polls new logs', async () => {
    const { chain, registry, poll } = setUp()
    chain.mine('a', 'b')
    expect(await registry.newLogFilter({ fromBlock: 'earliest' }, 'a', noLimit)).toBe('"0x1"')
    expect(await poll('0x1')).toEqual(logs('g', 'a', 'b'))
    expect(await poll('0x1')).toEqual([])
    chain.mine('c', 'd')
    expect(await poll('0x1')).toEqual(logs('c', 'd'))
    expect(JSON.parse(await registry.logs('0x1', noLimit))).toEqual(logs('g', 'a', 'b', 'c', 'd'))
  })

  test('behavior: eth_getFilterLogs without a range returns logs of the latest block', async () => {
    const { chain, registry } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    chain.mine('a', 'b')
    expect(JSON.parse(await registry.logs('0x1', noLimit))).toEqual(logs('b'))
  })

  test('behavior: latest starts after the current head and loses nothing between polls', async () => {
    const { chain, registry, poll } = setUp()
    chain.mine('a')
    await registry.newLogFilter({}, 'a', noLimit)
    chain.mine('b', 'c')
    expect(await poll('0x1')).toEqual(logs('b', 'c'))
  })

  test('behavior: the tags of a filter are the blocks of its installation', async () => {
    const { chain, registry, poll } = setUp()
    chain.mine('a', 'b', 'c')
    await registry.newLogFilter({ fromBlock: 'finalized', toBlock: 'safe' }, 'a', noLimit)
    chain.mine('d')
    expect(await poll('0x1')).toEqual(logs('a', 'b'))
    expect(JSON.parse(await registry.logs('0x1', noLimit))).toEqual(logs('a', 'b'))
  })

  test('behavior: a future range waits, a closed range ends', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: '0x2', toBlock: '0x3' }, 'a', noLimit)
    expect(await poll('0x1')).toEqual([])
    chain.mine('a')
    expect(await poll('0x1')).toEqual([])
    chain.mine('b', 'c', 'd')
    expect(await poll('0x1')).toEqual(logs('b', 'c'))
    chain.mine('e')
    expect(await poll('0x1')).toEqual([])
  })

  test('behavior: a reorganization returns removed logs from the highest block down, then new logs', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: 'earliest' }, 'a', noLimit)
    chain.mine('a', 'b', 'c')
    await poll('0x1')
    chain.branches.set('c', ['g', 'a', 'b', 'c'])
    chain.fork(1, 'B', 'C', 'D')
    expect(await poll('0x1')).toEqual(logs('-c', '-b', 'B', 'C', 'D'))
  })

  test('behavior: removed blocks outside the range are skipped', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: '0x3' }, 'a', noLimit)
    chain.mine('a', 'b', 'c')
    await poll('0x1')
    chain.branches.set('c', ['g', 'a', 'b', 'c'])
    chain.fork(1, 'B', 'C', 'D')
    expect(await poll('0x1')).toEqual(logs('-c', 'C', 'D'))
  })

  test('behavior: a reorganization during the search is returned completely', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: 'earliest' }, 'a', noLimit)
    chain.mine('a', 'b')
    await poll('0x1')
    chain.mine('c')
    chain.branches.set('b', ['g', 'a', 'b'])
    chain.branches.set('c', ['g', 'a', 'b', 'c'])
    chain.beforeSearch = () => chain.fork(1, 'B', 'C', 'D')
    expect(await poll('0x1')).toEqual(logs('-b', 'B', 'C', 'D'))
    expect(await poll('0x1')).toEqual([])
  })

  test('error: a filter with more logs than one poll may return is rejected', async () => {
    const { chain, registry, store } = setUp()
    chain.beforeSearch = () => {
      throw new RpcError(-32012, 'Filter returned more than 4 logs.', { toBlock: '0x3' })
    }
    await expect(registry.newLogFilter({ fromBlock: 'earliest' }, 'a', noLimit)).rejects.toMatchObject({ code: -32012 })
    expect(await store.count()).toBe(0)
  })

  test('behavior: a poll whose logs do not fit returns those of the first blocks, later polls the rest', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    expect(await poll('0x1')).toEqual([])
    chain.mine('a', 'b', 'c', 'd')
    const room = JSON.stringify(logs('a', 'b')).length
    expect(await poll('0x1', room)).toEqual(logs('a', 'b'))
    expect(await poll('0x1', room)).toEqual(logs('c', 'd'))
    chain.branches.set('d', ['g', 'a', 'b', 'c', 'd'])
    chain.fork(3, 'D', 'E')
    // Removed logs and new logs.
    expect(await poll('0x1', room)).toEqual(logs('-d', 'D'))
    expect(await poll('0x1', room)).toEqual(logs('E'))
    chain.branches.set('E', ['g', 'a', 'b', 'c', 'D', 'E'])
    chain.fork(3, 'F', 'G')
    expect(await poll('0x1', room)).toEqual(logs('-E', '-D'))
    expect(await poll('0x1', room)).toEqual(logs('F', 'G'))
  })

  test('behavior: removed logs that do not fit are returned by several polls, then new logs', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    const old = ['g', 'a', 'b', 'c', 'd', 'e', 'f']
    chain.mine(...old.slice(1))
    await poll('0x1')
    for (const [height, hash] of old.entries()) chain.branches.set(hash, old.slice(0, height + 1))
    chain.fork(1, ...['B', 'C', 'D', 'E', 'F', 'G'])
    const room = JSON.stringify(logs('a', 'b', 'c', 'd')).length
    await expect(poll('0x1', 10)).rejects.toMatchObject({ code: -32012 })
    expect(await poll('0x1', room)).toEqual(logs('-f', '-e', '-d'))
    expect(await poll('0x1', room)).toEqual(logs('-c', '-b', 'B', 'C'))
    expect(await poll('0x1', room)).toEqual(logs('D', 'E', 'F', 'G'))
    expect(await poll('0x1', room)).toEqual([])
  })

  test('behavior: when a branch returns, only the blocks whose removed logs were sent are sent again', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    const old = ['g', 'a', 'b', 'c', 'd']
    chain.mine(...old.slice(1))
    await poll('0x1')
    for (const [height, hash] of old.entries()) chain.branches.set(hash, old.slice(0, height + 1))
    chain.fork(0, 'A')
    const room = JSON.stringify(logs('a', 'b')).length
    expect(await poll('0x1', room)).toEqual(logs('-d', '-c'))
    chain.fork(0, ...old.slice(1))
    expect(await poll('0x1', room)).toEqual(logs('c', 'd'))
  })

  test('behavior: a first poll whose logs do not fit returns those of the first blocks, later polls the rest', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: '0x0' }, 'a', noLimit)
    chain.mine('a', 'b', 'c', 'd')
    const room = JSON.stringify(logs('a', 'b')).length
    await expect(poll('0x1', 2)).rejects.toMatchObject({ code: -32011 })
    expect(await poll('0x1', room)).toEqual(logs('g', 'a'))
    expect(await poll('0x1', room)).toEqual(logs('b', 'c'))
    expect(await poll('0x1', room)).toEqual(logs('d'))
    await registry.newLogFilter({}, 'a', noLimit)
    chain.mine('e', 'f', 'h')
    expect(await poll('0x2', room)).toEqual(logs('e', 'f'))
    expect(await poll('0x2', room)).toEqual(logs('h'))
  })

  test('behavior: without fromBlock a block that replaces the head of the installation is new', async () => {
    const { chain, registry, poll } = setUp()
    chain.mine('a', 'b')
    await registry.newLogFilter({}, 'a', noLimit)
    await registry.newBlockFilter('a')
    await registry.newLogFilter({}, 'b', noLimit)
    expect(await poll('0x1')).toEqual([])
    chain.branches.set('b', ['g', 'a', 'b'])
    chain.fork(1, 'B')
    expect(await poll('0x1')).toEqual(logs('-b', 'B'))
    expect(await poll('0x2')).toEqual(['B'])
    expect(await poll('0x3')).toEqual(logs('-b', 'B'))
  })

  test('error: a poll fails and loses nothing if the logs of one block do not fit', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    await poll('0x1')
    chain.mine('a', 'b')
    const room = JSON.stringify(logs('a')).length
    for (const maxBytes of [0, 2, room - 1]) await expect(poll('0x1', maxBytes)).rejects.toMatchObject({ code: -32011 })
    expect(await poll('0x1', room)).toEqual(logs('a'))
    expect(await poll('0x1', room)).toEqual(logs('b'))
  })

  test('behavior: the logs of a block that do not fit are returned by several polls', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    chain.counts.set('b', 5)
    chain.mine('a', 'b', 'c')
    const room = JSON.stringify(logs('b1', 'b2')).length
    for (const part of [['a'], ['b1', 'b2'], ['b3', 'b4'], ['b5'], ['c'], []]) {
      expect(await poll('0x1', room)).toEqual(logs(...part))
    }
    await registry.newLogFilter({ fromBlock: '0x2', toBlock: '0x2' }, 'a', noLimit)
    for (const part of [['b1', 'b2'], ['b3', 'b4'], ['b5'], []]) {
      expect(await poll('0x2', room)).toEqual(logs(...part))
    }
  })

  test('behavior: of a removed block, the logs that were sent are removed by several polls, from the last one down', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({}, 'a', noLimit)
    chain.counts.set('b', 5)
    const old = ['g', 'a', 'b', 'c']
    chain.mine('a', 'b', 'c')
    for (const [height, hash] of old.entries()) chain.branches.set(hash, old.slice(0, height + 1))
    const room = JSON.stringify(logs('b1', 'b2')).length
    for (const part of [['a'], ['b1', 'b2'], ['b3', 'b4']]) expect(await poll('0x1', room)).toEqual(logs(...part))
    chain.fork(0, 'A')
    expect(await poll('0x1', room)).toEqual(logs('-b3', '-b4'))
    // The block returns: the caller has its first two logs.
    chain.fork(0, 'a', 'b', 'c')
    for (const part of [['b3', 'b4'], ['b5'], ['c']]) expect(await poll('0x1', room)).toEqual(logs(...part))
    chain.fork(0, 'A', 'B')
    for (const part of [['-c'], ['-b4', '-b5'], ['-b2', '-b3'], ['-b1'], ['-a', 'A'], ['B'], []]) {
      expect(await poll('0x1', room)).toEqual(logs(...part))
    }
  })

  test('behavior: the logs of a block hash are returned once', async () => {
    const { registry, poll } = setUp()
    await registry.newLogFilter({ blockHash: 'x' }, 'a', noLimit)
    expect(await poll('0x1')).toEqual(logs('x'))
    expect(await poll('0x1')).toEqual([])
  })

  test('behavior: every search has the addresses and topics', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: '0x0', address: ['A'], topics: [null, ['T']] }, 'a', noLimit)
    await poll('0x1')
    // One search at installation, one at the poll.
    const search = { fromBlock: '0x0', toBlock: '0x0', address: ['A'], topics: [null, ['T']] }
    expect(chain.queries).toEqual([search, search])
  })

  test('error: a reversed range', async () => {
    const { chain, registry } = setUp()
    chain.mine('a', 'b')
    await expect(registry.newLogFilter({ fromBlock: 'latest', toBlock: '0x1' }, 'a', noLimit)).rejects.toMatchObject({
      code: -32602,
      message: 'fromBlock cannot be greater than toBlock',
    })
  })
})

describe('block and pending filters', () => {
  test('behavior: a poll returns new hashes, after a reorganization those of the new branch', async () => {
    const { chain, registry, poll } = setUp()
    chain.mine('a')
    await registry.newBlockFilter('a')
    expect(await poll('0x1')).toEqual([])
    chain.mine('b', 'c')
    expect(await poll('0x1')).toEqual(['b', 'c'])
    chain.branches.set('c', ['g', 'a', 'b', 'c'])
    chain.fork(1, 'B', 'C', 'D')
    expect(await poll('0x1')).toEqual(['B', 'C', 'D'])
    chain.branches.set('a', ['g', 'a'])
    expect(JSON.parse(await registry.logs('0x1', noLimit))).toEqual(['B', 'C', 'D'])
  })

  test('error: a poll whose hashes do not fit loses nothing', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newBlockFilter('a')
    chain.mine('a', 'b')
    await expect(poll('0x1', 8)).rejects.toMatchObject({ code: -32011 })
    expect(await poll('0x1', 9)).toEqual(['a', 'b'])
  })

  test('behavior: pending hashes start at the installation', async () => {
    const { chain, registry, poll } = setUp()
    chain.pending.push('old')
    await registry.newPendingTransactionFilter('a')
    chain.pending.push('x', 'y')
    expect(await poll('0x1')).toEqual(['x', 'y'])
    expect(await poll('0x1')).toEqual([])
    expect(JSON.parse(await registry.logs('0x1', noLimit))).toEqual(['x', 'y'])
  })
})

describe('life', () => {
  test('behavior: a filter expires unless it is polled', async () => {
    const { store, registry, poll, at } = setUp()
    await registry.newBlockFilter('a')
    at(99)
    expect(await poll('0x1')).toEqual([])
    at(198)
    expect(await poll('0x1')).toEqual([])
    at(298)
    await expect(poll('0x1')).rejects.toMatchObject({ code: -32000, message: 'filter not found' })
    expect(await store.count()).toBe(0)
  })

  test('behavior: uninstalling returns whether the filter existed', async () => {
    const { registry } = setUp()
    await registry.newBlockFilter('a')
    expect(await registry.uninstall('0x1')).toBe('true')
    expect(await registry.uninstall('0x1')).toBe('false')
  })

  test('error: too many filters; expired filters do not count', async () => {
    const { registry, at } = setUp(2)
    await registry.newBlockFilter('a')
    await registry.newBlockFilter('b')
    await expect(registry.newBlockFilter('c')).rejects.toMatchObject({
      code: -32005,
      message: 'Too many filters: 2 are installed',
    })
    at(100)
    expect(await registry.newBlockFilter('a')).toBe('"0x3"')
  })

  test('error: one client has half of the maximum, others the rest', async () => {
    const { registry } = setUp(4)
    const install = (client: string) => registry.newBlockFilter(client)
    await install('a')
    await install('a')
    await expect(install('a')).rejects.toMatchObject({
      code: -32005,
      message: 'Too many filters: 2 of 4 are the most of one client',
    })
    await install('b')
    await registry.uninstall('0x1')
    expect(await install('a')).toBe('"0x4"')
  })

  test('behavior: each log goes to one of two concurrent polls', async () => {
    const { chain, registry, poll } = setUp()
    await registry.newLogFilter({ fromBlock: '0x1' }, 'a', noLimit)
    chain.mine('a', 'b')
    const both = await Promise.all([poll('0x1'), poll('0x1')])
    expect(both).toEqual([logs('a', 'b'), []])
  })
})

test('behavior: a worker calls the registry of another thread by messages', async () => {
  const { chain, registry } = setUp()
  const remote = new RemoteFilters((question: FilterQuestion) => {
    void answerQuestion(registry, structuredClone(question)).then((reply) => remote.receive(structuredClone(reply)))
  })
  expect(await remote.newBlockFilter('a')).toBe('"0x1"')
  chain.mine('a')
  expect(await remote.changes('0x1', noLimit)).toBe('["a"]')
  await expect(remote.changes('0x9', noLimit)).rejects.toMatchObject({ code: -32000, message: 'filter not found' })
  expect(await remote.uninstall('0x1')).toBe('true')
})
