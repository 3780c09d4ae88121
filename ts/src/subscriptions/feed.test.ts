import { expect, test, vi } from 'vitest'
import type { FeedPage } from '../native/feedPage.ts'
import type { Caller } from '../rpc/caller.ts'
import { code, limitReached, RpcError, tooManyRequests } from '../rpc/errors.ts'
import type { FeedClient } from '../rpc/feedClient.ts'
import { MemoryBudget, sharedCounters } from '../rpc/memoryBudget.ts'
import { readFeed } from '../rpc/parameters/feed.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import { Feed, type FeedPages, feedBytes } from './feed.ts'

/** Numbered events; one on each page. */
class Numbers implements FeedPages {
  changes = 0
  end = 0
  reads: number[] = []
  fault: unknown
  #wake = new Set<() => void>()

  add(count: number): void {
    this.end += count
    this.changes++
    for (const wake of [...this.#wake]) wake()
  }

  onChange(listener: () => void): () => void {
    this.#wake.add(listener)
    return () => this.#wake.delete(listener)
  }

  head = () => this.end

  async page(from: string): Promise<FeedPage> {
    const { fault } = this
    this.fault = undefined
    if (fault !== undefined) throw fault
    const at = Number(from)
    this.reads.push(at)
    if (at >= this.end) return { events: Buffer.alloc(0), cursor: from, isAtHead: true }
    return { events: Buffer.from(`${at} `), cursor: String(at + 1), isAtHead: at + 1 === this.end }
  }
}

class Reader implements FeedClient {
  readonly isEventStream = true
  text = ''
  beats = 0
  failure: RpcError | undefined
  caller: Caller | undefined
  #room: Promise<void> = Promise.resolve()
  #go: () => void = () => undefined

  admitted = async () => this.caller
  send(events: Buffer): Promise<void> {
    this.text += events.toString()
    return this.#room
  }
  beat = () => {
    this.beats++
  }
  fail = (error: RpcError) => {
    this.failure = error
  }
  pause(): void {
    this.#room = new Promise((resolve) => {
      this.#go = resolve
    })
  }
  resume(): void {
    this.#go()
    this.#room = Promise.resolve()
  }
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function setUp(options = readFeed({ from: '0' }), reader = new Reader(), waitMs = 0) {
  const pages = new Numbers()
  pages.add(2)
  const counters = sharedCounters(1)
  const memory = new MemoryBudget(counters, 0, 2 ** 22)
  const held = memory.reserve('a', feedBytes) as NonNullable<ReturnType<MemoryBudget['reserve']>>
  const ends: unknown[] = []
  const feed = new Feed(pages, options, reader, new RequestContext(0, () => undefined), held, (one) => ends.push(one))
  const open = () => feed.open(waitMs)
  return { pages, memory, reader, feed, ends, open }
}

/** A caller that may call some methods and contracts, and has a number of units. */
function callerWith(methods: string[] | undefined, contracts?: string[], units = Number.POSITIVE_INFINITY) {
  const state = { units }
  const caller = {
    app: 'a',
    methods: methods && new Set(methods),
    contracts: contracts && new Set(contracts),
    pay: (_requests: number, price: number) => {
      if (state.units < price) return tooManyRequests(1)
      state.units -= price
      return undefined
    },
  } as unknown as Caller
  return { caller, state }
}

test('behavior: all events in order, then those of each change of the head', async () => {
  const { pages, memory, reader, feed, ends, open } = await setUp()
  await open()
  const running = feed.run()
  await turns()
  expect(reader.text).toBe('0 1 ')
  pages.add(3)
  await turns()
  expect(reader.text).toBe('0 1 2 3 4 ')
  feed.close()
  await running
  pages.add(1)
  await turns()
  expect([reader.text, ends, memory.allBytes]).toEqual(['0 1 2 3 4 ', [undefined], 0])
})

test('behavior: nothing is read while the client has unread events', async () => {
  const { pages, reader, feed, open } = await setUp()
  await open()
  reader.pause()
  void feed.run()
  pages.add(5)
  await turns()
  expect([reader.text, pages.reads]).toEqual(['0 ', [0]])
  reader.resume()
  await turns()
  expect(reader.text).toBe('0 1 2 3 4 5 6 ')
  feed.close()
})

test('behavior: a silent feed shows that it lives', async () => {
  vi.useFakeTimers()
  const { reader, feed, open } = await setUp()
  await open()
  void feed.run()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(reader.beats).toBe(2)
  feed.close()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(reader.beats).toBe(2)
  vi.useRealTimers()
})

test('behavior: a busy node is asked again, a failure ends the feed', async () => {
  vi.useFakeTimers()
  const { pages, reader, feed, ends, open } = await setUp()
  await open()
  const running = feed.run()
  await vi.advanceTimersByTimeAsync(1)
  pages.fault = limitReached('Server overloaded')
  pages.add(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(reader.text).toBe('0 1 2 ')
  const defect = new Error('a defect')
  pages.fault = defect
  pages.add(1)
  await vi.advanceTimersByTimeAsync(1000)
  await running
  expect([reader.failure?.code, ends]).toEqual([code.internal, [defect]])
  vi.useRealTimers()
})

test('behavior: a feed waits until its app can pay', async () => {
  vi.useFakeTimers()
  const reader = new Reader()
  const { caller, state } = callerWith(undefined, undefined, 1)
  reader.caller = caller
  const { feed, open } = await setUp(undefined, reader)
  await open()
  void feed.run()
  await vi.advanceTimersByTimeAsync(3000)
  expect(reader.text).toBe('0 ')
  state.units = 1
  await vi.advanceTimersByTimeAsync(1000)
  expect(reader.text).toBe('0 1 ')
  feed.close()
  vi.useRealTimers()
})

test.each([
  [callerWith(['eth_call']).caller, {}, 'rhizome_subscribe'],
  [callerWith(undefined, ['0x01']).caller, { what: ['blocks'] }, 'Contract not allowed'],
  [callerWith(undefined, ['0x01']).caller, { what: ['logs'] }, 'Contract not allowed'],
])('error: the policy of an app holds %#', async (caller, members, message) => {
  const reader = new Reader()
  reader.caller = caller
  const { open } = await setUp(readFeed({ from: '0', ...members }), reader)
  await expect(open()).rejects.toThrow(message)
})

test('error: a policy that changes ends the feed', async () => {
  const { pages, reader, feed, open } = await setUp()
  await open()
  const running = feed.run()
  await turns()
  reader.caller = callerWith(['eth_call']).caller
  pages.add(1)
  await running
  expect([reader.text, reader.failure?.message]).toEqual(['0 1 ', expect.stringContaining('rhizome_subscribe')])
})

test('behavior: the block of a cursor is waited for in a fleet', async () => {
  const { pages, open } = await setUp(undefined, undefined, 10_000)
  pages.fault = new RpcError(code.notStored, 'absent')
  const opened = open()
  await turns()
  pages.add(1)
  await opened
  expect(pages.reads).toEqual([0])
  for (const [from, message] of [
    ['1-0xab-1', 'absent'],
    ['9-0xab-1', 'The node has no block 9 yet'],
  ] as const) {
    const late = await setUp({ ...readFeed({ from: '0' }), from }, undefined, 10)
    // Each look finds nothing.
    late.pages.page = () => Promise.reject(new RpcError(code.notStored, 'absent'))
    await expect(late.open()).rejects.toThrow(message)
  }
  const alone = await setUp()
  alone.pages.fault = new RpcError(code.notStored, 'absent')
  await expect(alone.open()).rejects.toThrow('absent')
})
