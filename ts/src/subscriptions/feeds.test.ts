import { expect, test } from 'vitest'
import { HeadChanges } from '../native/headChanges.ts'
import type { FeedClient } from '../rpc/feedClient.ts'
import { MemoryBudget, sharedCounters } from '../rpc/memoryBudget.ts'
import { readFeed } from '../rpc/parameters/feed.ts'
import { RequestContext } from '../rpc/requestContext.ts'
import { Feeds } from './feeds.ts'

const client = { admitted: async () => undefined } as unknown as FeedClient
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Feeds over a core whose reads end on command. */
function setUp() {
  const reads: { readonly token: number; readonly end: () => void }[] = []
  const cancelled: number[] = []
  const native = {
    onHead: () => undefined,
    headCursor: () => '{"number":1,"hash":"0x"}',
    cancelExecution: (token: number) => cancelled.push(token),
    feedPage: (...[, , , , , token]: [string, string, boolean, number, number, number]) =>
      new Promise<string>((resolve) => {
        reads.push({ token, end: () => resolve('{"cursor":"1","isAtHead":true}') })
      }),
  }
  const feeds = new Feeds({
    native: native as never,
    heads: new HeadChanges(native),
    memory: new MemoryBudget(sharedCounters(1), 0, 2 ** 24),
    arrivalMs: 0,
    maximum: 10,
    newId: () => '0x1',
    onChange: () => undefined,
    report: () => undefined,
  })
  const open = () => {
    const context = new RequestContext(0, native.cancelExecution)
    return { context, feed: feeds.open(readFeed({ from: '0' }), client, context) }
  }
  return { reads, cancelled, open }
}

test('behavior: a read goes on for other clients when the client leaves that asked first', async () => {
  const { reads, cancelled, open } = setUp()
  const [first, second, third] = [open(), open(), open()]
  await turn()
  first.context.abort()
  first.context.abort()
  second.context.abort()
  await turn()
  expect([reads.length, cancelled]).toEqual([1, []])
  reads[0]?.end()
  await third.feed
  // The read has ended: another is a new one.
  open()
  await turn()
  expect(reads).toHaveLength(2)
})

test('behavior: a read is cancelled when the last client leaves, and not shared afterwards', async () => {
  const { reads, cancelled, open } = setUp()
  const [first, second] = [open(), open()]
  await turn()
  first.context.abort()
  second.context.abort()
  expect(cancelled).toEqual([reads[0]?.token])
  open()
  const gone = open()
  gone.context.abort()
  await expect(gone.feed).rejects.toThrow('The client has left')
  expect(reads).toHaveLength(2)
})
