import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { counter } from './contract.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'
import { describeWithRedis, RedisProcess } from './redis.ts'
import { Client } from './webSocket.ts'

// Each test starts several nodes and a server, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const second = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`
const json = { 'content-type': 'application/json', connection: 'close' }

interface Log {
  readonly blockNumber: string
  readonly logIndex: string
  readonly removed: boolean
}

/** Starts a node that builds the same blocks from the same transactions as every other. */
function startNode(redis: RedisProcess, settings = '', ...flags: string[]): Promise<NodeProcess> {
  return NodeProcess.start(
    ['--workers', '2', '--store', redis.url, ...flags],
    `metrics.enabled = true\nmetrics.port = 0\nminer.fixedClock = true\n${settings}`,
  )
}

async function keys(redis: RedisProcess, ...parameters: string[]): Promise<{ key: string }> {
  const { code, output, errors } = await runCommand(['keys', ...parameters, '--store', redis.url, '--json'])
  if (code !== 0) throw new Error(errors)
  return JSON.parse(output) as { key: string }
}

/** Returns the HTTP status of a request with a key. */
async function status(node: NodeProcess, key: string): Promise<number> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
  return (await fetch(`${node.url}/${key}`, { method: 'POST', headers: json, body })).status
}

/** Returns statuses over several connections, so that all workers are reached. */
async function statuses(node: NodeProcess, key: string): Promise<number[]> {
  return [...new Set(await Promise.all(Array.from({ length: 10 }, () => status(node, key))))]
}

async function health(node: NodeProcess): Promise<{ status: number; ready: boolean; store: Record<string, string> }> {
  const response = await fetch(`${node.url}/health`)
  return { status: response.status, ...((await response.json()) as { ready: boolean; store: Record<string, string> }) }
}

async function figure(node: NodeProcess, name: string): Promise<number> {
  const page = await (await fetch(node.metricsUrl ?? '')).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1])
}

describeWithRedis('filters of two nodes', () => {
  let redis: RedisProcess
  let nodes: [NodeProcess, NodeProcess]
  let contract: string
  const both = <T>(method: string, params: unknown[] = []): Promise<T[]> =>
    Promise.all(nodes.map((node) => node.result<T>(method, params)))
  const grow = () => both('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])

  beforeAll(async () => {
    redis = await RedisProcess.start()
    nodes = await Promise.all([startNode(redis), startNode(redis)])
    const data = counter.bytecode + '0'.repeat(64)
    const [hash] = await both<string>('eth_sendTransaction', [{ from: first, data, gas: '0x100000' }])
    contract = (await nodes[0].result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
    await redis.stop()
  })

  test('behavior: the nodes have the same chain', async () => {
    const blocks = await both<{ hash: string; number: string }>('eth_getBlockByNumber', ['latest', false])
    expect(blocks[0]?.number).toBe('0x1')
    expect(blocks[1]?.hash).toBe(blocks[0]?.hash)
  })

  test('behavior: a log filter continues at any node', async () => {
    const [a, b] = nodes
    const id = await a.result<string>('eth_newFilter', [{ address: contract }])
    for (let round = 0; round < 6; round++) {
      await grow()
      const [asked, other] = round % 2 === 0 ? [b, a] : [a, b]
      expect(await asked.result<Log[]>('eth_getFilterChanges', [id])).toHaveLength(1)
      expect(await other.result<Log[]>('eth_getFilterChanges', [id])).toEqual([])
    }
    const latest = await b.result<Log[]>('eth_getFilterLogs', [id])
    expect(latest).toEqual(await a.result<Log[]>('eth_getFilterLogs', [id]))
    expect(latest).toHaveLength(1)
    expect(await b.result('eth_uninstallFilter', [id])).toBe(true)
    expect(await a.result('eth_uninstallFilter', [id])).toBe(false)
    expect(await a.ask('eth_getFilterChanges', [id])).toMatchObject({ error: { code: -32000 } })
    expect(await redis.client.keys('rhizome:filter:*')).toEqual([])
  })

  test('behavior: a filter from a block on is polled first at the node that did not make it', async () => {
    const [a, b] = nodes
    const id = await a.result<string>('eth_newFilter', [{ address: contract, fromBlock: '0x2', toBlock: '0x4' }])
    const found = await b.result<Log[]>('eth_getFilterChanges', [id])
    expect(found.map(({ blockNumber }) => blockNumber)).toEqual(['0x2', '0x3', '0x4'])
    expect(await a.result<Log[]>('eth_getFilterChanges', [id])).toEqual([])
    expect(await a.result<Log[]>('eth_getFilterLogs', [id])).toEqual(found)
  })

  test('behavior: both nodes polled at once hand out each change once and lose none', async () => {
    const [a, b] = nodes
    const logs = await a.result<string>('eth_newFilter', [{ address: contract }])
    const blocks = await a.result<string>('eth_newBlockFilter')
    const told: Log[] = []
    const hashes: string[] = []
    for (let round = 0; round < 8; round++) {
      const growing = grow()
      const polls = Array.from({ length: 12 }, (_none, index) => (index % 2 === 0 ? a : b))
      await Promise.all(
        polls.map(async (node) => {
          told.push(...(await node.result<Log[]>('eth_getFilterChanges', [logs])))
          hashes.push(...(await node.result<string[]>('eth_getFilterChanges', [blocks])))
        }),
      )
      await growing
    }
    for (const node of nodes) {
      told.push(...(await node.result<Log[]>('eth_getFilterChanges', [logs])))
      hashes.push(...(await node.result<string[]>('eth_getFilterChanges', [blocks])))
    }
    expect(new Set(told.map(({ blockNumber }) => blockNumber)).size).toBe(8)
    expect(told).toHaveLength(8)
    expect(hashes).toHaveLength(8)
    expect(new Set(hashes).size).toBe(8)
  })

  test('behavior: a node that is behind returns no changes, and none twice', async () => {
    const [a, b] = nodes
    const logs = await b.result<string>('eth_newFilter', [{ address: contract }])
    const blocks = await b.result<string>('eth_newBlockFilter')
    const send = [{ from: second, to: contract, data: increase, gas: '0x30d40' }]
    for (let block = 0; block < 3; block++) await a.result('eth_sendTransaction', send)
    expect(await a.result('eth_getFilterChanges', [logs])).toHaveLength(3)
    expect(await a.result('eth_getFilterChanges', [blocks])).toHaveLength(3)
    for (let block = 0; block < 3; block++) {
      expect(await b.result('eth_getFilterChanges', [logs])).toEqual([])
      expect(await b.result('eth_getFilterChanges', [blocks])).toEqual([])
      await b.result('eth_sendTransaction', send)
    }
    expect(await b.result('eth_getFilterChanges', [logs])).toEqual([])
    await grow()
    expect(await b.result('eth_getFilterChanges', [logs])).toHaveLength(1)
    expect(await a.result('eth_getFilterChanges', [blocks])).toHaveLength(1)
  })

  test('behavior: a pending transaction is returned by the node that has it', async () => {
    const [a, b] = nodes
    const id = await a.result<string>('eth_newPendingTransactionFilter')
    expect(await b.result('eth_getFilterChanges', [id])).toEqual([])
    const [hash] = await both<string>('eth_sendTransaction', [{ from: first, to: second }])
    expect(await b.result('eth_getFilterChanges', [id])).toEqual([hash])
    expect(await a.result('eth_getFilterChanges', [id])).toEqual([hash])
    expect(await a.result('eth_getFilterChanges', [id])).toEqual([])
    expect(await b.result('eth_getFilterLogs', [id])).toEqual([hash])
  })

  test('behavior: filters are counted together and end by themselves', async () => {
    const [a, b] = nodes
    await redis.client.flushall()
    const id = await a.result<string>('eth_newBlockFilter')
    await b.result('eth_newFilter', [{}])
    expect(await figure(b, 'rhizome_filters')).toBe(2)
    const [key = ''] = await redis.client.keys(`rhizome:filter:*${id}`)
    expect(await redis.client.pttl(key)).toBeGreaterThan(290_000)
    await redis.client.pexpire(key, 1)
    // A request within that millisecond would extend the time.
    await expect.poll(() => redis.client.exists(key)).toBe(0)
    expect(await b.ask('eth_getFilterChanges', [id])).toMatchObject({ error: { code: -32000 } })
  })

  test('error: a damaged filter does not affect the node', async () => {
    const [a, b] = nodes
    const damages: ((key: string) => Promise<unknown>)[] = [
      (key) => redis.client.hset(key, 'seen', '{"number":"x"}'),
      (key) => redis.client.hset(key, 'filter', '{'),
      (key) => redis.client.hdel(key, 'seen'),
      (key) => redis.client.hset(key, 'seen', '{"number":1,"hash":"0xzz"}'),
      async (key) => {
        await redis.client.del(key)
        await redis.client.set(key, 'text')
      },
    ]
    for (const damage of damages) {
      const id = await a.result<string>('eth_newBlockFilter')
      const [key = ''] = await redis.client.keys(`rhizome:filter:*${id}`)
      await damage(key)
      expect(await b.ask('eth_getFilterChanges', [id])).toMatchObject({ error: { code: -32603 } })
      expect(await b.ask('eth_getFilterLogs', [id])).toMatchObject({ error: { code: -32603 } })
      expect(await b.result('eth_uninstallFilter', [id])).toBe(true)
    }
    expect(await b.result('eth_chainId')).toBe('0x21')
  })

  test('behavior: the filters of a node that was killed live on', async () => {
    const [a, b] = nodes
    const logs = await a.result<string>('eth_newFilter', [{ address: contract }])
    const blocks = await a.result<string>('eth_newBlockFilter')
    await grow()
    expect(await a.result('eth_getFilterChanges', [logs])).toHaveLength(1)
    await grow()
    await a.stop('SIGKILL')
    expect(await b.result('eth_getFilterChanges', [logs])).toHaveLength(1)
    expect(await b.result('eth_getFilterChanges', [blocks])).toHaveLength(2)
    expect(await b.result('eth_getFilterChanges', [logs])).toEqual([])
  })
})

describeWithRedis('a reorganisation between two nodes', () => {
  test('behavior: a block that only one node ever had is left behind at the other', async () => {
    const redis = await RedisProcess.start()
    const [a, b] = await Promise.all([startNode(redis), startNode(redis)])
    for (const node of [a, b]) for (let block = 0; block < 3; block++) await node.result('evm_mine')
    const id = await a.result<string>('eth_newBlockFilter')
    const snapshot = await a.result('evm_snapshot')
    await a.result('evm_increaseTime', [60])
    await a.result('evm_mine')
    const own = await a.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await a.result('eth_getFilterChanges', [id])).toEqual([own.hash])
    const [key = ''] = await redis.client.keys(`rhizome:filter:*${id}`)
    const below = await Promise.all(
      ['0x1', '0x2', '0x3'].map((height) => b.result<{ hash: string }>('eth_getBlockByNumber', [height, false])),
    )
    const seen = { number: 4, hash: own.hash, trail: below.map(({ hash }) => hash) }
    expect(JSON.parse((await redis.client.hget(key, 'seen')) ?? '')).toEqual(seen)
    expect(await b.result('eth_getFilterChanges', [id])).toEqual([])
    await b.result('evm_mine')
    expect(await b.result('eth_getFilterChanges', [id])).toEqual([])
    await b.result('evm_mine')
    const others = await Promise.all(
      ['0x4', '0x5'].map((height) => b.result<{ hash: string }>('eth_getBlockByNumber', [height, false])),
    )
    expect(others[0]?.hash).not.toBe(own.hash)
    expect(await b.result('eth_getFilterChanges', [id])).toEqual(others.map(({ hash }) => hash))
    expect(await b.result('eth_getFilterLogs', [id])).toEqual(others.map(({ hash }) => hash))
    // The first node gets there, too, after a while.
    expect(await a.result('evm_revert', [snapshot])).toBe(true)
    expect(await a.result('eth_getFilterChanges', [id])).toEqual([])
    await Promise.all([a.stop(), b.stop()])
    await redis.stop()
  })
})

describeWithRedis('keys of two nodes', () => {
  test('behavior: a key is made, rotated and revoked for both within a second', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet')
    const nodes = await Promise.all([startNode(redis), startNode(redis)])
    for (const node of nodes) {
      expect(await statuses(node, key)).toEqual([200])
      expect(await status(node, '')).toBe(401)
    }
    const later = await keys(redis, 'create', 'later')
    for (const node of nodes) await expect.poll(() => statuses(node, later.key), { timeout: 3000 }).toEqual([200])
    const turned = await keys(redis, 'rotate', 'later')
    for (const node of nodes) {
      await expect.poll(() => statuses(node, later.key), { timeout: 3000 }).toEqual([401])
      expect(await statuses(node, turned.key)).toEqual([200])
    }
    const client = await Client.open(`${nodes[1]?.url}/${key}`)
    await keys(redis, 'revoke', 'wallet')
    for (const node of nodes) await expect.poll(() => statuses(node, key), { timeout: 3000 }).toEqual([401])
    expect(await client.closed).toMatchObject({ code: 1008 })
    await Promise.all(nodes.map((node) => node.stop()))
    await redis.stop()
  })
})

describeWithRedis('limits of two nodes', () => {
  /** Sends requests and returns the number of accepted ones; the others get the error of a reached limit. */
  async function through(node: NodeProcess, key: string, count: number): Promise<number> {
    const all: number[] = []
    for (let sent = 0; sent < count; sent++) all.push(await status(node, key))
    expect(all.filter((one) => one !== 200 && one !== 429)).toEqual([])
    return all.filter((one) => one === 200).length
  }
  const units = async (redis: RedisProcess, app: string): Promise<number> => {
    const today = new Date().toISOString().slice(0, 10)
    return Number(await redis.client.hget(`rhizome:usage:${today}`, `${app}:units`))
  }

  test('behavior: one quota is spent through both, whichever is asked', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet', '--daily', '40')
    const [a, b] = await Promise.all([startNode(redis), startNode(redis)])
    expect(await through(a, key, 25)).toBe(25)
    await expect.poll(() => units(redis, 'wallet'), { timeout: 5000 }).toBe(25)
    // The other node reads the spent units once a second.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect(await through(b, key, 20)).toBe(15)
    await expect.poll(() => units(redis, 'wallet'), { timeout: 5000 }).toBe(40)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect(await through(a, key, 3)).toBe(0)
    // A node that starts later has it, too.
    await a.stop('SIGKILL')
    const c = await startNode(redis)
    expect(await through(c, key, 3)).toBe(0)
    const { output } = await runCommand(['keys', 'usage', 'wallet', '--store', redis.url, '--json'])
    const [report] = JSON.parse(output) as { days: Record<string, { units: number }> }[]
    expect(Object.values(report?.days ?? {}).map((day) => day.units)).toEqual([40])
    expect(await Promise.all([b.stop(), c.stop()])).toEqual([0, 0])
    await redis.stop()
  })

  test('behavior: one rate for both', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet', '--rate', '40')
    const nodes = await Promise.all([startNode(redis), startNode(redis)])
    const began = performance.now()
    let [sent, passed] = [0, 0]
    await Promise.all(
      [...nodes, ...nodes].map(async (node) => {
        while (performance.now() - began < 4000) {
          sent++
          if ((await status(node, key)) === 200) passed++
        }
      }),
    )
    const seconds = (performance.now() - began) / 1000
    // A full bucket and its refill; two buckets would be twice as much.
    expect(passed).toBeGreaterThan(0.7 * Math.min(sent, 40 * seconds))
    expect(passed).toBeLessThan(1.3 * (40 + 40 * seconds))
    await Promise.all(nodes.map((node) => node.stop()))
    await redis.stop()
  })

  test('behavior: while the store is away, an open node limits rates by itself and reports usage later', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'slow', '--rate', '2', '--burst', '5')
    const quota = await keys(redis, 'create', 'short', '--daily', '10')
    const node = await startNode(redis, 'store.whenAway = "open"\n')
    await redis.kill()
    await expect.poll(() => health(node)).toMatchObject({ store: { status: 'away' } })
    const passed = await through(node, key, 40)
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThan(40)
    expect(await through(node, quota.key, 15)).toBe(10)
    await redis.restart()
    await expect.poll(() => units(redis, 'short'), { timeout: 8000 }).toBe(10)
    await expect.poll(() => units(redis, 'slow'), { timeout: 8000 }).toBe(passed)
    expect(node.errors.match(/is away/g)).toHaveLength(1)
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })
})

describeWithRedis('a store that is away', () => {
  test('behavior: closed: 503 until the store is back, with a log line', async () => {
    const redis = await RedisProcess.start([], 'open-sesame')
    const { key } = await keys(redis, 'create', 'wallet')
    const node = await startNode(redis)
    const client = await Client.open(`${node.url}/${key}`)
    const filter = await node.ask('eth_newBlockFilter')
    expect(filter).toMatchObject({ error: { message: 'Must be authenticated!' } })
    expect(await health(node)).toMatchObject({
      status: 200,
      store: { status: 'up', whenAway: 'closed', reason: '', since: expect.stringMatching(/^\d{4}-.*Z$/) },
    })
    expect(await figure(node, 'rhizome_store_up')).toBe(1)
    await redis.kill()
    await expect.poll(() => statuses(node, key), { timeout: 3000 }).toEqual([503])
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    const refusal = await fetch(`${node.url}/${key}`, { method: 'POST', headers: json, body })
    expect(refusal.headers.get('retry-after')).toBe('1')
    expect(await refusal.json()).toMatchObject({ id: null, error: { code: -32005 } })
    expect(await client.exchange(body)).toMatchObject({ id: 1, error: { code: -32005 } })
    expect(await health(node)).toMatchObject({ status: 503, ready: false, store: { status: 'away' } })
    expect(await figure(node, 'rhizome_store_up')).toBe(0)
    await redis.restart()
    await expect.poll(() => statuses(node, key), { timeout: 5000 }).toEqual([200])
    expect(await client.exchange(body)).toMatchObject({ id: 1, result: '0x21' })
    expect(await health(node)).toMatchObject({ status: 200, store: { status: 'up' } })
    expect(node.errors).toContain('the shared store is away')
    expect(node.errors).not.toContain('open-sesame')
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })

  test('behavior: open: known keys stay valid, filters are refused, changes arrive when it is back', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet')
    const node = await startNode(redis, 'store.whenAway = "open"\n')
    const ask = async (method: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
      const response = await fetch(`${node.url}/${key}`, { method: 'POST', headers: json, body })
      return { status: response.status, ...((await response.json()) as { result?: string; error?: object }) }
    }
    expect(await ask('eth_newBlockFilter')).toMatchObject({ status: 200 })
    await redis.kill()
    await expect.poll(() => health(node)).toMatchObject({ status: 200, store: { status: 'away', whenAway: 'open' } })
    expect(await statuses(node, key)).toEqual([200])
    expect(await status(node, `${key.slice(0, -2)}AA`)).toBe(401)
    expect(await ask('eth_newBlockFilter')).toMatchObject({ status: 503, error: { code: -32005 } })
    await redis.restart()
    await expect.poll(() => ask('eth_newBlockFilter'), { timeout: 5000 }).toMatchObject({ status: 200 })
    await keys(redis, 'revoke', 'wallet')
    await expect.poll(() => statuses(node, key), { timeout: 3000 }).toEqual([401])
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })

  test('behavior: open: a node starts without it and refuses requests until the keys are known', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet')
    await redis.kill()
    const node = await startNode(redis, 'store.whenAway = "open"\n')
    expect(await statuses(node, key)).toEqual([503])
    expect(await status(node, '')).toBe(503)
    await redis.restart()
    await expect.poll(() => statuses(node, key), { timeout: 5000 }).toEqual([200])
    expect(await status(node, '')).toBe(401)
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })

  test('error: closed: a start, and a command, without it', async () => {
    const redis = await RedisProcess.start()
    await redis.stop()
    await expect(startNode(redis)).rejects.toThrow(/ended with 1: rhizome: store\.url: Redis is away \(ECONNREFUSED\)/)
    const { code, errors } = await runCommand(['keys', 'list', '--store', redis.url])
    expect([code, errors]).toEqual([1, 'rhizome: Redis is away (ECONNREFUSED)\n'])
  })

  test('error: a password that is wrong is named nowhere', async () => {
    const redis = await RedisProcess.start([], 'right-one')
    const url = redis.url.replace('right-one', 'wrong-one')
    const start = NodeProcess.start(['--store', url])
    await expect(start).rejects.toThrow(/ended with 1: rhizome: store\.url: Redis is away \(WRONGPASS\)/)
    await expect(start).rejects.not.toThrow(/wrong-one/)
    const { code, errors } = await runCommand(['keys', 'create', 'a', '--store', url])
    expect([code, errors]).toEqual([1, 'rhizome: Redis is away (WRONGPASS)\n'])
    await redis.stop()
  })

  test('error: damaged apps fail a start, and change nothing while a node runs', async () => {
    const redis = await RedisProcess.start()
    const { key } = await keys(redis, 'create', 'wallet')
    const node = await startNode(redis)
    await redis.client.hset('rhizome:apps', 'content', '{"apps":"secret"}', 'revision', 'other')
    await expect.poll(() => node.errors).toContain('API keys could not be reloaded; keeping the current ones')
    expect(await statuses(node, key)).toEqual([200])
    await expect(startNode(redis)).rejects.toThrow(/ended with 1: rhizome: Redis: apps: is damaged/)
    await redis.client.del('rhizome:apps')
    await redis.client.set('rhizome:apps', 'text')
    await expect.poll(() => node.errors).toContain('WRONGTYPE')
    expect(await statuses(node, key)).toEqual([200])
    await redis.client.flushall()
    // The store was emptied: that admits no request.
    await expect.poll(() => statuses(node, key), { timeout: 2000 }).toEqual([401])
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })

  test('behavior: a server that hangs or refuses writes delays no request', async () => {
    const redis = await RedisProcess.start()
    const node = await startNode(redis, 'store.whenAway = "open"\n')
    await redis.client.client('PAUSE', 4000, 'ALL')
    // A request that waited for the end of the pause would get a filter.
    expect(await node.ask('eth_newBlockFilter')).toMatchObject({ error: { code: -32005 } })
    expect(await node.result('eth_chainId')).toBe('0x21')
    await expect
      .poll(() => node.ask('eth_newBlockFilter'), { timeout: 8000 })
      .toMatchObject({ result: expect.stringMatching(/^0x/) })
    await redis.client.config('SET', 'maxmemory', '1')
    await expect.poll(() => health(node), { timeout: 3000 }).toMatchObject({ store: { reason: 'OOM' } })
    await redis.client.config('SET', 'maxmemory', '0')
    await expect.poll(() => health(node), { timeout: 3000 }).toMatchObject({ store: { status: 'up' } })
    expect(await node.stop()).toBe(0)
    await redis.stop()
  })
})

test('error: invalid settings of the store, without their values', async () => {
  for (const url of [
    'redis://:pass:word-x@',
    'http://a/pass-word-x',
    'redis://:pa/ss-word-x@host',
    'redis://h/word-x',
  ]) {
    const { code, errors } = await runCommand(['start', '--store', url, '--data-dir', scratchFolder()])
    expect([url, code]).toEqual([url, 2])
    expect(errors).toContain('store.url')
    expect(errors).not.toContain('word-x')
  }
})
