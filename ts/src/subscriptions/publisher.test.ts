import { describe, expect, test, vi } from 'vitest'
import type { Cursor } from '../native/feed.ts'
import { MemoryBudget, sharedCounters } from '../rpc/memoryBudget.ts'
import type { LogCriteria } from '../rpc/parameters/logFilter.ts'
import type { Wanted } from '../rpc/parameters/subscription.ts'
import type { Subscriber } from '../rpc/subscriber.ts'
import { Publisher } from './publisher.ts'
import { SubscriptionRegistry } from './registry.ts'
import type { BlockLog, SubscriptionSource, SyncNumbers } from './source.ts'

/** Chain of named blocks; each has one log with the name of the block. */
class Chain implements SubscriptionSource {
  blocks = ['g']
  readonly branches = new Map<string, string[]>()
  pending: string[] = []
  readonly dropped = new Set<string>()
  searches = 0
  logsOfBlock = 1
  template = 'w1'
  looks = 0
  work = async (): Promise<string> => {
    this.looks++
    return JSON.stringify({ blockHashForMergedMining: this.template })
  }
  sync: SyncNumbers | undefined
  syncing = (): SyncNumbers | undefined => this.sync
  onHead = (callback: () => void): void => {
    this.callHead = callback
  }
  onPending = (callback: () => void): void => {
    this.callPending = callback
  }
  callHead = (): void => undefined
  callPending = (): void => undefined

  mine(...names: string[]): void {
    this.blocks.push(...names)
    this.branches.set(names.at(-1) ?? '', [...this.blocks])
    this.callHead()
  }

  fork(height: number, ...names: string[]): void {
    this.blocks.length = height + 1
    this.mine(...names)
  }

  send(...hashes: string[]): void {
    this.pending.push(...hashes)
    this.callPending()
  }

  head(): Cursor {
    return { number: this.blocks.length - 1, hash: this.blocks.at(-1) ?? '' }
  }

  movementSince({ number, hash }: Cursor, most: number) {
    const branch = this.branches.get(hash) ?? this.blocks.slice(0, number + 1)
    let common = number
    while (branch[common] !== this.blocks[common]) common--
    const hashes = this.blocks.slice(common + 1, common + 1 + most)
    const at = common + hashes.length
    return {
      hashes,
      removed: branch.slice(common + 1, number + 1).reverse(),
      cursor: { number: at, hash: this.blocks[at] ?? '' },
    }
  }

  pendingPosition(): number {
    return this.pending.length
  }

  pendingSince(position: number) {
    return { hashes: this.pending.slice(position), position: this.pending.length }
  }

  header(hash: string): string {
    return this.dropped.has(hash) ? 'null' : `"head ${hash}"`
  }

  logs(hash: string, isRemoved: boolean): BlockLog[] {
    this.searches++
    const log = { address: hash, topics: ['t'], text: `${isRemoved ? 'removed ' : ''}log ${hash}` }
    return Array(this.logsOfBlock).fill(log)
  }

  transaction(hash: string): string {
    return this.dropped.has(hash) ? 'null' : `{"hash":"${hash}"}`
  }
}

class Listener implements Subscriber {
  readonly client = 'a'
  readonly caller = undefined
  readonly isOpen = true
  isBehind = false
  unreadBytes = 0
  drained = () => Promise.resolve()
  heard: string[] = []

  push(messages: Iterable<Buffer>): void {
    for (const message of messages) {
      const { jsonrpc, method, params } = JSON.parse(message.toString()) as Record<string, unknown>
      expect([jsonrpc, method]).toEqual(['2.0', 'eth_subscription'])
      const { subscription, result } = params as { subscription: string; result: unknown }
      const { text = JSON.stringify(result) } = result as { text?: string }
      this.heard.push(`${Number(subscription)}: ${typeof result === 'string' ? result : text}`)
    }
  }

  take(): string[] {
    return this.heard.splice(0)
  }
}

function setUp(maximum = 10, turnMs = Number.POSITIVE_INFINITY) {
  const chain = new Chain()
  let ids = 0
  const registry = new SubscriptionRegistry(
    maximum,
    new MemoryBudget(sharedCounters(1), 0, 2 ** 20),
    () => `0x${String(++ids).padStart(32, '0')}`,
  )
  const defects: unknown[] = []
  const publisher = new Publisher(chain, registry, (defect) => defects.push(defect), turnMs)
  return { chain, registry, publisher, defects, one: new Listener(), other: new Listener() }
}

const heads: Wanted = { kind: 'newHeads' }
const allLogs: Wanted = { kind: 'logs', criteria: {} }
const logsOf = (...address: string[]): Wanted => ({ kind: 'logs', criteria: { address } })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('blocks', () => {
  test('behavior: publishes head and logs of each block after the subscription', () => {
    const { chain, publisher, one } = setUp()
    chain.mine('a')
    publisher.subscribe(one, heads)
    publisher.subscribe(one, allLogs)
    chain.mine('b', 'c')
    expect(one.take()).toEqual(['1: head b', '2: log b', '1: head c', '2: log c'])
    chain.callHead()
    expect(one.take()).toEqual([])
  })

  test('behavior: a reorganization publishes removed logs from the highest block down, then the new branch', () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    publisher.subscribe(one, allLogs)
    chain.mine('a', 'b', 'c')
    one.take()
    chain.fork(1, 'B', 'C', 'D')
    expect(one.take()).toEqual([
      '2: removed log c',
      '2: removed log b',
      '1: head B',
      '2: log B',
      '1: head C',
      '2: log C',
      '1: head D',
      '2: log D',
    ])
  })

  test('behavior: a way back to a lower block publishes removed logs and no head', () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    publisher.subscribe(one, allLogs)
    chain.mine('a', 'b', 'c')
    one.take()
    chain.fork(1)
    expect(one.take()).toEqual(['2: removed log c', '2: removed log b'])
    chain.mine('B')
    expect(one.take()).toEqual(['1: head B', '2: log B'])
  })

  test('behavior: a new subscription does not get earlier changes that are not published yet', () => {
    const { chain, publisher, one, other } = setUp()
    publisher.subscribe(one, heads)
    chain.callHead = () => undefined
    chain.mine('a')
    publisher.subscribe(other, heads)
    publisher.publish()
    expect([one.take(), other.take()]).toEqual([['1: head a'], []])
  })

  test('behavior: changes without subscriptions are not published later', () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    publisher.forget(one)
    chain.mine('a')
    publisher.subscribe(one, heads)
    chain.mine('b')
    expect(one.take()).toEqual(['2: head b'])
  })

  test('behavior: equal criteria are matched once, different criteria together', () => {
    const { chain, publisher, one, other } = setUp()
    for (const wanted of [logsOf('a'), logsOf('b'), logsOf('a', 'b')]) publisher.subscribe(one, wanted)
    for (const wanted of [logsOf('a'), logsOf('nobody')]) publisher.subscribe(other, wanted)
    chain.mine('a')
    expect(chain.searches).toBe(1)
    expect([one.take(), other.take()]).toEqual([['1: log a', '3: log a'], ['4: log a']])
    chain.mine('b')
    expect([one.take(), other.take()]).toEqual([['2: log b', '3: log b'], []])
  })

  test('behavior: many blocks are published over several turns, none is lost', async () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    const names = Array.from({ length: 100 }, (_none, index) => `n${index}`)
    chain.mine(...names)
    expect(one.heard.length).toBeLessThan(100)
    for (let round = 0; round < 10; round++) await turn()
    expect(one.take()).toEqual(names.map((name) => `1: head ${name}`))
  })

  test('behavior: criteria are of any case, topics match by position', () => {
    const { chain, publisher, one } = setUp()
    const wanted: LogCriteria[] = [
      { address: ['A', 'X'], topics: [['t', 'u']] },
      { topics: [null, null] },
      { topics: [['u']] },
      { topics: [['t'], ['t']] },
    ]
    for (const criteria of wanted) publisher.subscribe(one, { kind: 'logs', criteria })
    chain.mine('a')
    expect(one.take()).toEqual(['1: log a', '2: log a'])
  })

  test('behavior: the steps of a block are spread over turns, in order', async () => {
    const { chain, publisher, one, other } = setUp(10, 0)
    publisher.subscribe(one, heads)
    publisher.subscribe(other, heads)
    publisher.subscribe(one, allLogs)
    chain.mine('a', 'b')
    expect([one.take(), other.take()]).toEqual([['1: head a'], []])
    // A change and a subscription between two steps: nothing is lost, and nothing published twice.
    chain.mine('c')
    publisher.subscribe(other, allLogs)
    publisher.unsubscribe(other, `0x${'2'.padStart(32, '0')}`)
    chain.mine('d')
    for (let round = 0; round < 30; round++) await turn()
    expect(one.take()).toEqual([
      '3: log a',
      ...['b', 'c', 'd'].flatMap((name) => [`1: head ${name}`, `3: log ${name}`]),
    ])
    expect(other.take()).toEqual(['4: log d'])
  })

  test('behavior: many logs of a block are published over several turns', async () => {
    const { chain, publisher, one } = setUp(10, 0)
    publisher.subscribe(one, allLogs)
    chain.logsOfBlock = 600
    chain.mine('a')
    expect(one.heard).toHaveLength(0)
    for (const heard of [256, 512, 600]) {
      await vi.waitFor(() => expect(one.heard).toHaveLength(heard), { interval: 0 })
    }
  })

  test('behavior: a long series waits for a client that reads, and for one that does not only once', async () => {
    const { chain, publisher, one, other } = setUp()
    let read = (): void => undefined
    one.drained = () => {
      one.isBehind = false
      return new Promise((resolve) => {
        read = resolve
      })
    }
    publisher.subscribe(one, allLogs)
    publisher.subscribe(other, heads)
    one.isBehind = true
    chain.mine('a', 'b')
    expect([one.take(), other.take()]).toEqual([['1: log a'], ['2: head a']])
    await turn()
    expect([one.take(), other.take()]).toEqual([[], []])
    read()
    await vi.waitFor(() => expect(one.take()).toEqual(['1: log b']), { interval: 5 })
    one.isBehind = true
    chain.mine('c', 'd', 'e')
    await vi.waitFor(() => expect(other.heard).toHaveLength(4), { timeout: 900 })
    expect(one.take()).toEqual(['1: log c', '1: log d', '1: log e'])
  })

  test('behavior: a deleted block is skipped', () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    chain.dropped.add('a')
    chain.mine('a', 'b')
    expect(one.take()).toEqual(['1: head b'])
  })
})

describe('the pool', () => {
  test('behavior: publishes hashes or whole transactions after the subscription', () => {
    const { chain, publisher, one } = setUp()
    chain.send('x')
    publisher.subscribe(one, { kind: 'newPendingTransactions', isFull: false })
    publisher.subscribe(one, { kind: 'newPendingTransactions', isFull: true })
    chain.dropped.add('z')
    chain.send('y', 'z')
    expect(one.take()).toEqual(['1: y', '1: z', '2: {"hash":"y"}'])
  })

  test('behavior: a transaction is published before its block', () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    publisher.subscribe(one, { kind: 'newPendingTransactions', isFull: false })
    chain.pending.push('x')
    chain.mine('a')
    expect(one.take()).toEqual(['2: x', '1: head a'])
  })

  test('behavior: many transactions are published over several turns, before the block after them', async () => {
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, heads)
    publisher.subscribe(one, { kind: 'newPendingTransactions', isFull: false })
    const names = Array.from({ length: 1000 }, (_none, index) => `n${index}`)
    chain.pending.push(...names)
    chain.mine('a')
    expect(one.heard.length).toBeLessThan(1000)
    for (let round = 0; round < 10; round++) await turn()
    expect(one.take()).toEqual([...names.map((name) => `2: ${name}`), '1: head a'])
  })
})

describe('subscriptions', () => {
  test('behavior: only the own connection can remove a subscription', () => {
    const { chain, publisher, one, other } = setUp()
    const id = publisher.subscribe(one, heads)
    expect(publisher.unsubscribe(other, id)).toBe(false)
    chain.mine('a')
    expect(one.take()).toEqual(['1: head a'])
    expect(publisher.unsubscribe(one, id)).toBe(true)
    expect(publisher.unsubscribe(one, id)).toBe(false)
    chain.mine('b')
    expect(one.take()).toEqual([])
  })

  test('behavior: closing the connection removes its subscriptions', () => {
    const { chain, registry, publisher, one, other } = setUp()
    publisher.subscribe(one, heads)
    publisher.subscribe(one, allLogs)
    publisher.subscribe(one, { kind: 'newPendingTransactions', isFull: true })
    publisher.subscribe(other, heads)
    publisher.forget(one)
    chain.mine('a')
    expect([one.take(), other.take()]).toEqual([[], ['4: head a']])
    expect([registry.hasBlocks, registry.hasPool, registry.logs.size]).toEqual([true, false, 0])
  })

  test('behavior: a connection that closes during publication does not affect others', () => {
    const { chain, publisher, other } = setUp()
    const leaving: Subscriber = Object.assign(new Listener(), { push: () => publisher.forget(leaving) })
    publisher.subscribe(leaving, heads)
    publisher.subscribe(leaving, allLogs)
    publisher.subscribe(other, heads)
    chain.mine('a', 'b')
    expect(other.take()).toEqual(['3: head a', '3: head b'])
  })

  test('error: the bytes of all criteria are limited, and released', () => {
    const { publisher, one, other } = setUp(1000)
    const large = (index: number) => {
      const address = Array.from(
        { length: 1000 },
        (_none, place) => `0x${String(index * 1000 + place).padStart(40, '0')}`,
      )
      return { kind: 'logs', criteria: { address } } as const
    }
    publisher.subscribe(one, large(0))
    publisher.subscribe(one, large(1))
    expect(() => publisher.subscribe(one, large(2))).toThrow('Too many subscriptions: they take all memory')
    publisher.forget(one)
    publisher.subscribe(other, large(3))
    publisher.subscribe(other, large(4))
  })

  test('behavior: another block template is published, at once after a new head', async () => {
    const { chain, publisher, one, other } = setUp()
    publisher.subscribe(one, { kind: 'newWork' }, 'w1')
    chain.mine('a')
    await turn()
    expect(one.take()).toEqual([])
    chain.template = 'w2'
    chain.mine('b')
    // A change while the template is read is not missed.
    chain.template = 'w3'
    chain.mine('c')
    await turn()
    expect(one.take()).toEqual(['w2', 'w3'].map((hash) => `1: {"blockHashForMergedMining":"${hash}"}`))
    // Templates that were built before a subscription are known to its caller.
    publisher.subscribe(other, { kind: 'newWork' }, 'w3')
    chain.template = 'w4'
    chain.mine('d')
    await turn()
    expect([one.take(), other.take()]).toEqual([
      ['1: {"blockHashForMergedMining":"w4"}'],
      ['2: {"blockHashForMergedMining":"w4"}'],
    ])
    publisher.forget(one)
    publisher.forget(other)
    chain.mine('e')
    const { looks } = chain
    chain.mine('f')
    await turn()
    expect(chain.looks).toBe(looks)
  })

  test('behavior: a template that changes without a new head is published within a second', async () => {
    vi.useFakeTimers()
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, { kind: 'newWork' }, 'w1')
    chain.template = 'w2'
    await vi.advanceTimersByTimeAsync(1000)
    publisher.forget(one)
    await vi.advanceTimersByTimeAsync(1000)
    vi.useRealTimers()
    expect(one.take()).toEqual(['1: {"blockHashForMergedMining":"w2"}'])
  })

  test('behavior: the start and the end of a synchronization are published, nothing at the subscription', () => {
    vi.useFakeTimers()
    const { chain, publisher, one } = setUp()
    publisher.subscribe(one, { kind: 'syncing' })
    vi.advanceTimersByTime(2000)
    expect(one.take()).toEqual([])
    const numbers = { startingBlock: 1, currentBlock: 2, highestBlock: 300 }
    chain.sync = numbers
    vi.advanceTimersByTime(2000)
    chain.sync = undefined
    vi.advanceTimersByTime(2000)
    vi.useRealTimers()
    expect(one.take()).toEqual([`1: ${JSON.stringify({ syncing: true, status: numbers })}`, '1: false'])
  })

  test('error: too many subscriptions of one connection', () => {
    const { publisher, one, other } = setUp(2)
    const id = publisher.subscribe(one, heads)
    publisher.subscribe(one, { kind: 'syncing' })
    expect(() => publisher.subscribe(one, heads)).toThrow('Too many subscriptions: 2 are the most of one connection')
    publisher.subscribe(other, heads)
    publisher.unsubscribe(one, id)
    publisher.subscribe(one, heads)
  })

  test('error: a failure of the core is reported, the next change is published', () => {
    const { chain, publisher, defects, one } = setUp()
    publisher.subscribe(one, heads)
    const { header } = Chain.prototype
    chain.header = () => {
      throw new Error('disk')
    }
    chain.mine('a')
    chain.header = header
    chain.mine('b')
    expect(defects).toMatchObject([{ message: 'disk' }])
    expect(one.take()).toEqual(['1: head b'])
  })
})
