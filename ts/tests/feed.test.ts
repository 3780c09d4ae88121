import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createApp, revokeApp } from '../src/auth/app.ts'
import { FileStore } from '../src/auth/fileStore.ts'
import { type FeedEvent, FeedModel, FeedReader } from './changeFeed.ts'
import { counter } from './contract.ts'
import { describeWithNats, NatsProcess } from './natsServer.ts'
import { NodeProcess, scratchFolder } from './node.ts'
import { Client } from './webSocket.ts'

// Starts several nodes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const second = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`

const isEnacted = ({ type }: FeedEvent) => type === 'enacted'
const headOf = (node: NodeProcess) =>
  node.result<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false])

describe('the change feed of a node', () => {
  let node: NodeProcess
  let contract: string
  beforeAll(async () => {
    node = await NodeProcess.start(['--workers', '2'])
    const hash = await node.result('eth_sendTransaction', [
      { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' },
    ])
    contract = (await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
    for (let round = 0; round < 5; round++) await raise()
  })
  afterAll(() => node?.stop())
  const raise = () =>
    node.result<string>('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])

  test('behavior: history, then each new block, and the rest after each cursor', async () => {
    const reader = await FeedReader.open(node.url, 'from=earliest&what=blocks,transactions')
    const head = await headOf(node)
    await reader.until((events) => events.at(-1)?.hash === head.hash)
    await raise()
    const { hash } = await headOf(node)
    const events = await reader.until((all) => all.at(-1)?.hash === hash)
    reader.close()
    const model = new FeedModel()
    for (const [index, event] of events.entries()) {
      model.apply(event)
      const rest = await FeedReader.open(node.url, `from=earliest&what=blocks,transactions`, {
        'Last-Event-ID': event.cursor,
      })
      if (index < events.length - 1) {
        const got = await rest.until((all) => all.at(-1)?.hash === hash)
        expect(got).toEqual(events.slice(index + 1))
      }
      rest.close()
    }
    expect(model.blocks).toHaveLength(Number((await headOf(node)).number) + 1)
  })

  test('behavior: logs are those of eth_getLogs, also over WebSocket', async () => {
    const query = `from=earliest&what=logs&address=${contract}`
    const reader = await FeedReader.open(node.url, query)
    const logs = await node.result<object[]>('eth_getLogs', [{ fromBlock: '0x0', address: contract }])
    const found = (events: readonly FeedEvent[]) => events.filter(isEnacted).flatMap((event) => event.logs ?? [])
    expect(found(await reader.until((events) => found(events).length === logs.length))).toEqual(logs)
    const client = await Client.open(node.url)
    const id = await client.result('rhizome_subscribe', [
      'feed',
      { from: 'earliest', what: ['logs'], address: contract },
    ])
    const sent = await client.take(logs.length)
    expect(sent.every(({ method, params }) => method === 'rhizome_subscription' && params.subscription === id)).toBe(
      true,
    )
    expect(found(sent.map(({ params }) => params.result as FeedEvent))).toEqual(logs)
    await raise()
    const [more] = (await client.take(1)).map(({ params }) => params.result as FeedEvent)
    expect(more).toEqual((await reader.until((events) => events.at(-1)?.cursor === more?.cursor)).at(-1))
    // A block without logs moves the place.
    await node.result('evm_mine')
    const [moved] = (await client.take(1)).map(({ params }) => params.result as FeedEvent)
    expect(moved).toEqual({ type: 'progress', cursor: expect.stringMatching(/^\d+-0x[0-9a-f]{64}-2$/) })
    expect(await client.result('rhizome_unsubscribe', [id])).toBe(true)
    expect(await client.result('rhizome_unsubscribe', [id])).toBe(false)
    await client.close()
    reader.close()
  })

  test('behavior: traces and changes of the state are those of the methods', async () => {
    const { hash } = await headOf(node)
    const reader = await FeedReader.open(node.url, 'from=earliest&what=traces,state')
    const events = (await reader.until((all) => all.at(-1)?.cursor.includes(hash) === true)).filter(isEnacted)
    reader.close()
    const changed = events.filter(({ state = [] }) => state.length > 0)
    expect(changed).toHaveLength(Number((await headOf(node)).number))
    for (const { hash: block, number, traces, state = [] } of changed) {
      expect(traces).toEqual(await node.result('trace_block', [number]))
      const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
      const results = await node.result<object[]>('debug_traceBlockByHash', [block, options])
      expect(state.map(({ transactionHash: txHash, diff: result }) => ({ txHash, result }))).toEqual(results)
    }
  })

  test('behavior: a network that goes back, and blocks that replace others', async () => {
    const reader = await FeedReader.open(node.url, 'what=blocks')
    await reader.until((events) => events.length === 1)
    const snapshot = await node.result('evm_snapshot')
    const before = await headOf(node)
    await node.result('evm_mine')
    await reader.until((events) => events.length === 2)
    await node.result('evm_revert', [snapshot])
    await node.result('evm_increaseTime', [60])
    await node.result('evm_mine')
    const head = await headOf(node)
    const events = await reader.until((all) => all.at(-1)?.hash === head.hash)
    expect(events.slice(2)).toMatchObject([
      { type: 'rewound', hash: before.hash },
      { type: 'enacted', parentHash: before.hash },
    ])
    reader.close()
  })

  test('error: what is no feed is named', async () => {
    const refused = (query: string) =>
      FeedReader.open(node.url, query).then(
        () => '',
        (error: Error) => error.message,
      )
    const { number, hash } = await headOf(node)
    expect(await refused('from=x')).toMatch(/^400 .*expected a cursor/)
    expect(await refused(`from=${Number(number) + 1}-${hash}-1`)).toMatch(/^400 .*has the number/)
    expect(await refused(`from=${Number(number)}-${hash}-9`)).toMatch(/^400 .*has 2 steps/)
    expect(await refused('what=everything')).toMatch(/^400 .*everything is unknown/)
    const gone = await refused(`from=5-0x${'ab'.repeat(32)}-1`)
    expect(gone).toMatch(/^410 /)
    const { error } = JSON.parse(gone.slice(4)) as { error: { code: number; data: { oldest: string } } }
    expect(error.code).toBe(-32001)
    const all = await FeedReader.open(node.url, `from=${error.data.oldest}`)
    expect((await all.until((events) => events.length > 0))[0]).toMatchObject({ number: '0x0', from: 0 })
    all.close()
    const client = await Client.open(node.url)
    await expect(client.result('rhizome_subscribe', ['feed', { from: 'x' }])).rejects.toThrow('-32602 Invalid from')
    await expect(client.result('rhizome_subscribe', ['heads'])).rejects.toThrow('-32602')
    await client.close()
    expect(await node.ask('rhizome_subscribe', ['feed'])).toMatchObject({ error: { code: -32601 } })
    expect((await fetch(`${node.url}/feed`, { method: 'PUT' })).status).toBe(405)
  })

  test('behavior: a slow client gets everything, later, and holds nobody up', async () => {
    const data = `0x${'5a'.repeat(90_000)}`
    const blocks = 60
    const slow = await FeedReader.open(node.url, 'what=blocks,transactions')
    const quick = await FeedReader.open(node.url, 'what=blocks,transactions')
    const socket = await Client.open(node.url)
    await socket.result('rhizome_subscribe', ['feed', { what: ['blocks', 'transactions'] }])
    await slow.until((events) => events.length === 1)
    slow.pause()
    socket.socket.pause()
    for (let count = 0; count < blocks; count++)
      await node.result('eth_sendTransaction', [{ from: first, to: second, data, gas: '0x600000' }])
    const { hash } = await headOf(node)
    const all = await quick.until((events) => events.at(-1)?.hash === hash)
    expect(all.filter(isEnacted)).toHaveLength(blocks)
    slow.resume()
    socket.socket.resume()
    expect(await slow.until((events) => events.at(-1)?.hash === hash)).toEqual(all)
    const sent = await socket.take(blocks + 1)
    expect(sent.map(({ params }) => params.result)).toEqual(all)
    expect(node.errors).toBe('')
    quick.close()
    slow.close()
    await socket.close()
  })

  test('behavior: many clients that come and go leave nothing behind', async () => {
    for (let round = 0; round < 10; round++) {
      const readers = await Promise.all(Array.from({ length: 20 }, () => FeedReader.open(node.url, 'from=earliest')))
      await Promise.all(readers.map((reader) => reader.until((events) => events.length > 3)))
      for (const reader of readers) reader.close()
    }
    const reader = await FeedReader.open(node.url, '')
    await node.result('evm_mine')
    await reader.until((events) => events.some(isEnacted))
    expect(node.errors).toBe('')
    const stopped = node.stop()
    expect(await stopped).toBe(0)
    expect(reader.isClosed).toBe(true)
  })
})

describe('the change feed and policies', () => {
  const dir = join(scratchFolder(), 'data')
  const store = new FileStore(join(dir, 'apps.json'))
  const create = async (name: string, policy: object = {}) => {
    const app = { name, description: '', useCase: '', network: 'regtest', expiresAt: null, ...policy }
    return (await store.change((apps) => createApp(apps, app, Date.now()))).key
  }

  test('behavior: keys, allow lists and prices hold', async () => {
    const key = await create('free')
    const calls = await create('calls', { allow: { methods: ['eth_*'] } })
    const logs = await create('logs', { allow: { contracts: [second] } })
    const traces = await create('traces', { allow: { methods: ['rhizome_subscribe', 'trace_block'] } })
    const daily = await create('daily', { limits: { dailyUnits: 15 } })
    const node = await NodeProcess.start(['--data-dir', dir, '--workers', '1'])
    const refused = (path: string, query = '') =>
      FeedReader.open(`${node.url}/${path}`, query).then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await refused('')).toMatch(/^401 /)
    expect(await refused(calls)).toMatch(/^403 .*rhizome_subscribe/)
    expect(await refused(traces, 'what=traces,state')).toMatch(/^403 .*debug_traceBlockByHash/)
    const traced = await FeedReader.open(`${node.url}/${traces}`, 'what=traces')
    await traced.until((events) => events.length === 1)
    traced.close()
    expect(await refused(logs, 'what=blocks')).toMatch(/^403 .*Contract not allowed/)
    const allowed = await FeedReader.open(`${node.url}/${logs}`, `what=logs&address=${second}`)
    await allowed.until((events) => events.length === 1)
    allowed.close()
    // The feed costs 10, its first page 1.
    const paying = await FeedReader.open(node.url, '', { 'x-api-key': daily })
    await paying.until((events) => events.length === 1)
    expect(await refused(daily)).toMatch(/^429 .*Quota exceeded/)
    paying.close()
    const reader = await FeedReader.open(`${node.url}/${key}`, '')
    await reader.until((events) => events.length === 1)
    await store.change((apps) => ({ apps: revokeApp(apps, 'free', Date.now()) }))
    while (!reader.isClosed) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(reader.failure).toEqual({ code: -32600, message: 'Must be authenticated!' })
    await node.stop()
  })
})

describeWithNats('the change feed of a fleet', () => {
  test('behavior: a client goes from node to node through reorganizations', async () => {
    const nats = await NatsProcess.start()
    const start = (role: string, ...flags: string[]) =>
      NodeProcess.start([
        ...['--workers', '1', '--fleet', role, '--fleet-url', nats.url],
        ...['--data-dir', join(scratchFolder(), 'data'), ...flags],
      ])
    const miners = await Promise.all([start('importer'), start('importer')])
    const replicas = await Promise.all([start('replica'), start('replica')])
    // Equal nodes mine equal blocks at the same time.
    await miners[1]?.result('evm_increaseTime', [30])
    const model = new FeedModel()
    let from = 'earliest'
    let retracted = 0
    const best = async () => {
      const heads = await Promise.all(miners.map(headOf))
      return heads.reduce((one, other) => (Number(other.number) > Number(one.number) ? other : one))
    }
    for (let round = 0; round < 6; round++) {
      // Each importer mines on its own branch, one more than the other has: the replicas change to it.
      const miner = miners[round % 2] as NodeProcess
      const head = Number((await best()).number)
      while (Number((await headOf(miner)).number) <= head) await miner.result('evm_mine')
      const { hash } = await headOf(miner)
      const reader = await FeedReader.open((replicas[round % 2] as NodeProcess).url, `from=${from}`)
      const events = await reader.until(
        (all) => all.at(-1)?.hash === hash || all.at(-1)?.cursor.includes(hash) === true,
      )
      for (const event of events) model.apply(event)
      retracted += events.filter(({ type }) => type === 'retracted').length
      from = reader.cursor
      reader.close()
      expect(model.blocks.at(-1)?.hash).toBe(hash)
    }
    expect(retracted).toBeGreaterThan(3)
    // The last round was read from the other replica.
    const node = replicas[0] as NodeProcess
    await expect.poll(async () => (await headOf(node)).hash, { timeout: 15_000 }).toBe(model.blocks.at(-1)?.hash)
    for (const [number, { hash }] of model.blocks.entries()) {
      const block = await node.result<{ hash: string }>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
      expect(block.hash).toBe(hash)
    }
    // The place of a node that is ahead: the other one waits for the block.
    const miner = miners[1] as NodeProcess
    const waiting = FeedReader.open(miner.url, 'from=latest')
    await (await waiting).until((all) => all.length === 1)
    await miner.result('evm_mine')
    const ahead = await (await waiting).until((all) => all.length === 2)
    const [one, other] = await Promise.all(
      replicas.map((replica) => FeedReader.open(replica.url, `from=${ahead.at(-1)?.cursor}`)),
    )
    for (const reader of [await waiting, one, other]) reader?.close()
    await Promise.all([...miners, ...replicas].map((each) => each.stop()))
    await nats.kill()
  })
})
