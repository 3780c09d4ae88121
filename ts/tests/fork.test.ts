import { readdirSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createTestClient,
  createWalletClient,
  defineChain,
  encodeDeployData,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter, keys } from './contract.ts'
import { configFile, NodeProcess, runCommand, scratchFolder } from './node.ts'

const abi = parseAbi([
  'constructor(uint256 start)',
  'function total() view returns (uint256)',
  'function increase(uint256)',
])
const total = encodeFunctionData({ abi, functionName: 'total' })
const [cow, cow1] = ['0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826', '0x7986b3df570230288501eea3d890bd66948c9b79']
const bridge = '0x0000000000000000000000000000000001000006'

/** A proxy in front of the remote node, which knows the methods that it was asked for. */
class CountingProxy {
  readonly #server: Server
  methods: string[] = []
  requests = 0

  private constructor(server: Server) {
    this.#server = server
  }

  /** `delayMs`: time before a request with storage slots is passed on. */
  static async start(target: () => string, delayMs = 0): Promise<CountingProxy> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      proxy.requests++
      proxy.methods.push(...[JSON.parse(body)].flat().map(({ method }: { method: string }) => method))
      if (body.includes('eth_getStorageAt')) await sleep(delayMs)
      const answer = await fetch(target(), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    const proxy = new CountingProxy(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Returns the methods since the last call. */
  take(): string[] {
    const { methods } = this
    this.methods = []
    this.requests = 0
    return methods
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

let remote: NodeProcess
let proxy: CountingProxy
let fork: NodeProcess
let contract: string
let creation: string
let forkBlock: number
const folder = scratchFolder()
const settings = `[fork]\ncacheDir = ${JSON.stringify(folder)}\n`

const hex = (number: number) => `0x${number.toString(16)}`

/** Sends a transaction of an account of the node, and returns its receipt. */
async function send(
  node: NodeProcess,
  transaction: object,
): Promise<{
  status: string
  gasUsed: string
  blockNumber: string
  transactionHash: string
  contractAddress: string
  logs: unknown[]
}> {
  const hash = await node.result<string>('eth_sendTransaction', [{ gas: '0x100000', ...transaction }])
  return node.result('eth_getTransactionReceipt', [hash])
}

const increase = (by: bigint) => ({
  from: cow,
  to: contract,
  data: encodeFunctionData({ abi, functionName: 'increase', args: [by] }),
})

beforeAll(async () => {
  remote = await NodeProcess.start([], '[modules.rsk]\ndeny = ["rsk_shutdown", "rsk_flush"]\n')
  const data = encodeDeployData({ abi, bytecode: counter.bytecode as `0x${string}`, args: [5n] })
  const deployed = await send(remote, { from: cow, data })
  contract = deployed.contractAddress
  creation = deployed.transactionHash
  for (let number = 0; number < 20; number++) await send(remote, increase(1n))
  proxy = await CountingProxy.start(() => remote.url)
  fork = await NodeProcess.start(['--fork', proxy.url, '--log-level', 'info'], settings)
  forkBlock = Number(await remote.result('eth_blockNumber'))
  proxy.take()
}, 120_000)

afterAll(async () => {
  expect(fork.errors).not.toMatch(/internal error|were pruned/)
  await fork.stop()
  proxy.stop()
  await remote.stop()
})

describe('a fork of a node on the same machine', () => {
  test('behavior: it has the state of the other chain, and reads it in few requests', async () => {
    expect(await fork.result('eth_blockNumber')).toBe(hex(forkBlock))
    expect(await fork.result('eth_chainId')).toBe('0x21')
    const call = [{ to: contract, data: total }, 'latest']
    expect(await fork.result('eth_call', call)).toBe(await remote.result('eth_call', call))
    expect(proxy.requests).toBeLessThanOrEqual(4)
    const methods = proxy.take()
    expect(new Set(methods)).toEqual(
      new Set(['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode', 'eth_getStorageAt']),
    )
    for (const [method, ...params] of [
      ['eth_getCode', contract, 'latest'],
      ['eth_getTransactionCount', cow, 'latest'],
      ['eth_getStorageAt', contract, '0x0', 'latest'],
      ['eth_estimateGas', increase(7n)],
      ['eth_call', { to: bridge, data: '0x802ad4b6' }, 'latest'],
    ] as const) {
      expect(await fork.result(method, [...params]), method).toEqual(await remote.result(method, [...params]))
    }
    expect(proxy.take()).not.toContain('eth_call')
  })

  test('behavior: its transactions have the results that they have on the other chain', async () => {
    const id = await fork.result('evm_snapshot')
    const [here, there] = [await send(fork, increase(3n)), await send(remote, increase(3n))]
    expect([here.status, here.gasUsed, here.blockNumber]).toEqual([there.status, there.gasUsed, there.blockNumber])
    expect(await fork.result('eth_call', [{ to: contract, data: total }, 'latest'])).toBe(
      await remote.result('eth_call', [{ to: contract, data: total }, 'latest']),
    )
    await send(fork, increase(100n))
    expect(BigInt(await fork.result('eth_call', [{ to: contract, data: total }, 'latest']))).toBe(128n)
    expect(BigInt(await fork.result('eth_call', [{ to: contract, data: total }, hex(forkBlock)]))).toBe(25n)
    expect(await fork.result('evm_revert', [id])).toBe(true)
    expect(BigInt(await fork.result('eth_call', [{ to: contract, data: total }, 'latest']))).toBe(25n)
  })

  test('behavior: older blocks, transactions, receipts and logs are those of the other chain', async () => {
    const { hash } = await remote.result<{ hash: string }>('eth_getBlockByNumber', ['0x1', false])
    const head = await remote.result<{ hash: string }>('eth_getBlockByNumber', [hex(forkBlock), false])
    for (const [method, ...params] of [
      ['eth_getBlockByNumber', '0x1', true],
      ['eth_getBlockByNumber', 'earliest', false],
      ['eth_getBlockByNumber', hex(forkBlock), true],
      ['eth_getBlockByHash', hash, true],
      ['eth_getBlockByHash', head.hash, true],
      ['eth_getBlockTransactionCountByNumber', '0x1'],
      ['eth_getBlockTransactionCountByHash', hash],
      ['eth_getTransactionByHash', creation],
      ['eth_getTransactionReceipt', creation],
      ['eth_getTransactionByBlockNumberAndIndex', '0x1', '0x0'],
      ['eth_getTransactionByBlockHashAndIndex', hash, '0x0'],
      ['eth_getBlockReceipts', '0x2'],
      ['eth_getBalance', cow1, '0x1'],
      ['eth_call', { to: contract, data: total }, '0x2'],
      ['eth_getLogs', { fromBlock: '0x1', toBlock: '0x3' }],
      ['eth_getLogs', { blockHash: hash }],
    ] as const) {
      expect(await fork.result(method, [...params]), `${method} ${params}`).toEqual(
        await remote.result(method, [...params]),
      )
    }
    proxy.take()
    await fork.result('eth_getBlockByNumber', ['0x1', true])
    expect(proxy.take()).toEqual([])
    const unknown = `0x${'ab'.repeat(32)}`
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'])
      expect(await fork.result(method, [unknown])).toBe(null)
    expect(await fork.result('eth_getBlockByHash', [unknown, false])).toBe(null)
  })

  test('behavior: traces of older blocks are those of the other chain, by reads of its state', async () => {
    const { hash } = await remote.result<{ hash: string }>('eth_getBlockByNumber', ['0x1', false])
    const head = await remote.result<{ hash: string }>('eth_getBlockByNumber', [hex(forkBlock), false])
    proxy.take()
    for (const [method, ...params] of [
      ['trace_block', 'earliest'],
      ['trace_block', '0x1'],
      ['trace_block', hash],
      ['trace_block', hex(forkBlock)],
      ['trace_block', head.hash],
      ['trace_transaction', creation],
      ['trace_get', creation, ['0x0']],
      ['trace_replayTransaction', creation, ['trace', 'stateDiff', 'vmTrace']],
      ['trace_replayBlockTransactions', '0x3', ['stateDiff']],
      ['trace_filter', { fromBlock: hex(forkBlock - 3), toBlock: hex(forkBlock) }],
      ['trace_filter', { toAddress: [contract], after: 2, count: 3 }],
      ['debug_traceTransaction', creation, { tracer: 'callTracer' }],
      ['debug_traceTransaction', creation, {}],
      ['debug_traceBlockByNumber', '0x2', { tracer: 'prestateTracer' }],
      ['debug_traceBlockByHash', hash, { tracer: 'callTracer' }],
      ['debug_traceBlockByHash', head.hash, { tracer: 'callTracer' }],
      [
        'eth_callMany',
        [{ transactions: [{ to: contract, data: total }] }],
        { blockNumber: '0x5', transactionIndex: 0 },
      ],
    ] as const) {
      expect(await fork.result(method, [...params]), `${method} ${params}`).toEqual(
        await remote.result(method, [...params]),
      )
    }
    expect(proxy.take().filter((method) => /^(trace|debug)_|call|estimate/i.test(method))).toEqual([])
    const raw = await remote.result('debug_getRawBlock', [hex(forkBlock)])
    expect(await fork.result('debug_traceBlock', [raw, { tracer: 'callTracer' }])).toEqual(
      await remote.result('debug_traceBlock', [raw, { tracer: 'callTracer' }]),
    )
    // A search continues in the blocks of the fork.
    const id = await fork.result('evm_snapshot')
    await send(fork, increase(1n))
    const traces = await fork.result<{ blockNumber: number }[]>('trace_filter', [
      { fromBlock: hex(forkBlock - 1), toAddress: [contract] },
    ])
    expect(traces.map(({ blockNumber }) => blockNumber)).toEqual([forkBlock - 1, forkBlock, forkBlock + 1])
    await fork.result('evm_revert', [id])
  })

  test('behavior: a search of logs crosses the block that the fork begins at', async () => {
    const id = await fork.result('evm_snapshot')
    const later = await send(remote, increase(1n))
    const own = await send(fork, increase(2n))
    const logs = await fork.result<{ blockNumber: string; transactionHash: string }[]>('eth_getLogs', [
      { fromBlock: '0x1', toBlock: 'latest', address: contract },
    ])
    const older = await remote.result<unknown[]>('eth_getLogs', [
      { fromBlock: '0x1', toBlock: hex(forkBlock), address: contract },
    ])
    expect(logs.slice(0, -1)).toEqual(older)
    expect(logs.at(-1)).toMatchObject({ blockNumber: hex(forkBlock + 1), transactionHash: own.transactionHash })
    // Nothing of the other chain above the fork is part of it.
    expect(await fork.result('eth_getTransactionReceipt', [later.transactionHash])).toBe(null)
    const block = await remote.result<{ hash: string }>('eth_getBlockByNumber', [later.blockNumber, false])
    expect(await fork.result('eth_getBlockByHash', [block.hash, false])).toBe(null)
    expect(await fork.result('debug_traceTransaction', [later.transactionHash])).toBe(null)
    expect(await fork.result('trace_block', [block.hash])).toBe(null)
    await fork.result('evm_revert', [id])
  })

  test('behavior: the methods of development networks work', async () => {
    const id = await fork.result('evm_snapshot')
    const client = createTestClient({
      mode: 'hardhat',
      chain: defineChain({
        id: 33,
        name: 'fork',
        nativeCurrency: { name: 'RBTC', symbol: 'RBTC', decimals: 18 },
        rpcUrls: { default: { http: [fork.url] } },
      }),
      transport: http(fork.url, { retryCount: 0 }),
      cacheTime: 0,
    }).extend(publicActions)
    const stranger = `0x${'5e'.repeat(20)}` as const
    await client.impersonateAccount({ address: stranger })
    await client.setBalance({ address: stranger, value: 10n ** 18n })
    const sent = await send(fork, { from: stranger, to: cow1, value: '0x5' })
    expect(sent.status).toBe('0x1')
    await client.setStorageAt({ address: contract as `0x${string}`, index: 0, value: `0x${'00'.repeat(31)}2a` })
    await client.mine({ blocks: 5 })
    const wallet = createWalletClient({
      account: privateKeyToAccount(keys[1]),
      chain: client.chain,
      transport: http(fork.url),
    })
    await wallet.sendTransaction({ to: stranger, value: 1n, gasPrice: 100_000_000n, type: 'legacy' })
    const result = await fork.result('evm_revert', [id])
    expect(result).toBe(true)
    expect(await client.getBalance({ address: stranger })).toBe(0n)
    await fork.result('evm_reset')
    expect(await fork.result('eth_blockNumber')).toBe(hex(forkBlock))
  })

  test('error: what a fork cannot know is refused in words', async () => {
    for (const [method, ...params] of [
      ['eth_getProof', cow, [], 'latest'],
      ['debug_storageRangeAt', hex(forkBlock), 0, contract, '0x0', 10],
    ]) {
      const { error } = await fork.ask(method as string, params)
      expect(error).toMatchObject({ code: -32000, message: expect.stringContaining('is not served in a fork') })
    }
  })

  test('behavior: a second run makes no request', async () => {
    // The running fork adds to the file of its block.
    const flags = ['--fork', proxy.url, '--fork-block', String(forkBlock - 1)]
    const read = async (node: NodeProcess) => [
      await node.result('eth_call', [{ to: contract, data: total }, 'latest']),
      await node.result('eth_getBlockByNumber', ['0x2', true]),
      (await send(node, increase(9n))).gasUsed,
    ]
    const first = await NodeProcess.start(flags, settings)
    const expected = await read(first)
    await first.stop()
    proxy.take()
    const second = await NodeProcess.start(flags, settings)
    expect(await read(second)).toEqual(expected)
    expect(proxy.take()).toEqual([])
    await second.stop()
    const listed = await runCommand(['fork-cache', 'list', '--json', '--config', configFile(settings)])
    expect(JSON.parse(listed.output)).toMatchObject(
      [forkBlock - 1, forkBlock].map((number) => ({ chainId: 33, number })),
    )
    expect((await runCommand(['fork-cache', 'clear', '--config', configFile(settings)])).code).toBe(0)
    const cleared = await runCommand(['fork-cache', 'list', '--json', '--config', configFile(settings)])
    expect(JSON.parse(cleared.output)).toEqual([])
  })
})

describe('a development node that becomes a fork', () => {
  let node: NodeProcess
  const stranger = `0x${'5e'.repeat(20)}`
  const forking = (options: object) => node.result('hardhat_reset', [{ forking: options }])

  beforeAll(async () => {
    node = await NodeProcess.start([], settings)
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test('behavior: hardhat_reset leads to a block of the other chain, to another one, and back', async () => {
    await node.result('hardhat_setBalance', [stranger, '0x7'])
    const filter = await node.result('eth_newBlockFilter')
    expect(await forking({ jsonRpcUrl: remote.url, blockNumber: forkBlock - 1 })).toBe(true)
    expect(await node.result('eth_blockNumber')).toBe(hex(forkBlock - 1))
    expect(await node.result('eth_getBalance', [stranger, 'latest'])).toBe('0x0')
    expect(await node.result('eth_getBlockByNumber', ['0x1', true])).toEqual(
      await remote.result('eth_getBlockByNumber', ['0x1', true]),
    )
    expect(await node.result('eth_call', [{ to: contract, data: total }, 'latest'])).toBe(
      await remote.result('eth_call', [{ to: contract, data: total }, hex(forkBlock - 1)]),
    )
    expect((await send(node, increase(1n))).status).toBe('0x1')
    const { hash } = await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await node.result('eth_getFilterChanges', [filter])).toContain(hash)
    const { forkedNetwork } = await node.result<{ forkedNetwork: unknown }>('hardhat_metadata')
    expect(forkedNetwork).toMatchObject({ chainId: 33, forkBlockNumber: forkBlock - 1 })
    // The same node at another block, then its first block again.
    expect(await forking({ blockNumber: hex(forkBlock - 2) })).toBe(true)
    await send(node, increase(1n))
    expect(await forking({})).toBe(true)
    expect(await node.result('eth_blockNumber')).toBe(hex(forkBlock - 2))
    expect(await node.result('anvil_reset', [])).toBe(true)
    expect(await node.result('eth_blockNumber')).toBe('0x0')
    expect(await node.result('eth_getCode', [contract, 'latest'])).toBe('0x')
    expect((await send(node, { from: cow, to: cow1, value: '0x1' })).blockNumber).toBe('0x1')
  })

  test('behavior: blocks by time are mined on the fork', async () => {
    await node.result('evm_setIntervalMining', [20])
    await forking({ jsonRpcUrl: remote.url, blockNumber: forkBlock })
    const mined = async () => Number(await node.result('eth_blockNumber')) > forkBlock + 1
    await expect.poll(mined, { timeout: 20_000 }).toBe(true)
    await node.result('evm_setIntervalMining', [0])
  })

  test('behavior: anvil_setRpcUrl reads from another node of the chain', async () => {
    await forking({ jsonRpcUrl: remote.url, blockNumber: forkBlock })
    proxy.take()
    expect(await node.result('anvil_setRpcUrl', [proxy.url])).toBe(null)
    await node.result('eth_getBalance', [`0x${'77'.repeat(20)}`, 'latest'])
    expect(proxy.take()).toContain('eth_getBalance')
    const other = await NodeProcess.start()
    const refused = await node.ask('anvil_setRpcUrl', [other.url])
    expect(refused.error).toMatchObject({ code: -32000, message: expect.stringContaining('has no block') })
    await other.stop()
    await node.result('eth_getBalance', [`0x${'78'.repeat(20)}`, 'latest'])
    expect(proxy.take()).toContain('eth_getBalance')
  })

  test('behavior: requests have the time of a fork after a reset', async () => {
    // More than the time of a request without a fork.
    const slow = await CountingProxy.start(() => remote.url, 5500)
    const own = await NodeProcess.start(['--workers', '1'], settings)
    await own.result('hardhat_reset', [{ forking: { jsonRpcUrl: proxy.url, blockNumber: forkBlock - 1 } }])
    await own.result('anvil_setRpcUrl', [slow.url])
    let accounts = 0
    const read = async () => {
      accounts++
      return (await own.ask('eth_getBalance', [`0x${accounts.toString(16).padStart(40, 'c')}`, 'latest'])).result
    }
    // The first request may arrive at the worker before the new time.
    await expect.poll(read, { timeout: 30_000 }).toBe('0x0')
    await own.stop()
    slow.stop()
  }, 60_000)

  test('error: a failed reset leaves the chain as it is', async () => {
    await node.result('hardhat_reset', [])
    await send(node, { from: cow, to: stranger, value: '0x9' })
    for (const [options, code, message] of [
      [{ jsonRpcUrl: 'http://127.0.0.1:1', blockNumber: 5 }, -32000, 'does not answer'],
      [{ jsonRpcUrl: remote.url, blockNumber: 999_999 }, -32000, 'has no block'],
      [{ blockNumber: 5 }, -32602, 'forking.jsonRpcUrl is missing'],
      [{ jsonRpcUrl: 'ftp://x' }, -32602, 'not an http or https URL'],
      [{ jsonRpcUrl: remote.url, blockNumber: -1 }, -32602, 'not a block number'],
      [{ jsonRpcUrl: remote.url, key: 'x' }, -32602, 'forking.key is unknown'],
    ] as const) {
      const { error } = await node.ask('hardhat_reset', [{ forking: options }])
      expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    }
    expect(await node.result('eth_getBalance', [stranger, 'latest'])).toBe('0x9')
    expect((await node.ask('anvil_setRpcUrl', [remote.url])).error).toMatchObject({ code: -32000 })
  })
})

test('behavior: a fork becomes a chain of its own', async () => {
  const node = await NodeProcess.start(['--fork', remote.url, '--fork-block', String(forkBlock)], settings)
  expect(await node.result('hardhat_reset', [])).toBe(true)
  expect(await node.result('eth_blockNumber')).toBe('0x0')
  expect((await send(node, { from: cow, to: cow1, value: '0x1' })).status).toBe('0x1')
  expect(await node.stop()).toBe(0)
})

describe('a fork of a data directory', () => {
  const dir = join(scratchFolder(), 'data')
  let created: Awaited<ReturnType<typeof send>>
  const blocks = 8

  /** Names and sizes of the files of the database, but the log of RocksDB and its lock. */
  const files = () =>
    readdirSync(join(dir, 'chain'), { recursive: true })
      .map(String)
      .filter((name) => !/^(LOG|LOCK|OPTIONS)/.test(name))
      .map((name) => `${name} ${statSync(join(dir, 'chain', name)).size}`)
      .sort()

  beforeAll(async () => {
    const source = await NodeProcess.start(['--data-dir', dir])
    const data = encodeDeployData({ abi, bytecode: counter.bytecode as `0x${string}`, args: [5n] })
    created = await send(source, { from: cow, data })
    const to = created.contractAddress
    for (let number = 1; number < blocks; number++) await send(source, { ...increase(1n), to })
    await source.stop()
  }, 60_000)

  test('behavior: state, Bridge, older blocks and traces are there, and the directory stays as it is', async () => {
    const before = files()
    const to = created.contractAddress
    const node = await NodeProcess.start(['--fork', dir, '--fork-block', '5'])
    const call = async (block: string) => BigInt(await node.result('eth_call', [{ to, data: total }, block]))
    expect([await call('latest'), await call('0x2'), await call('0x5')]).toEqual([9n, 6n, 9n])
    expect((await send(node, { ...increase(10n), to })).blockNumber).toBe('0x6')
    expect(await call('latest')).toBe(19n)
    // updateCollections()
    expect((await send(node, { from: cow, to: bridge, data: '0x0c5a9990' })).status).toBe('0x1')
    expect(await node.result('eth_getTransactionReceipt', [created.transactionHash])).toEqual(created)
    expect(
      await node.result('debug_traceTransaction', [created.transactionHash, { tracer: 'callTracer' }]),
    ).toMatchObject({ type: 'CREATE', to })
    expect(await node.result<unknown[]>('trace_block', ['0x3'])).not.toHaveLength(0)
    const logs = await node.result<{ blockNumber: string }[]>('eth_getLogs', [{ fromBlock: '0x1', address: to }])
    expect(logs.map(({ blockNumber }) => Number(blockNumber))).toEqual([2, 3, 4, 5, 6])
    // The later blocks of the directory are not part of the fork.
    expect(await node.result('eth_getBlockByNumber', ['0x8', false])).toBe(null)
    expect(await node.result('hardhat_reset', [{ forking: { blockNumber: 7 } }])).toBe(true)
    expect(await call('latest')).toBe(11n)
    const inUse = await runCommand(['start', '--data-dir', dir, '--http-port', '0', '--log-level', 'error'])
    expect(inUse).toMatchObject({ code: 1, errors: expect.stringContaining('another process') })
    expect(node.errors).not.toContain('internal error')
    expect(await node.stop()).toBe(0)
    expect(files()).toEqual(before)
  }, 60_000)

  test('error: a directory in use, an unknown block, and a folder without a chain', async () => {
    const start = (...flags: string[]) => runCommand(['start', '--http-port', '0', '--log-level', 'error', ...flags])
    expect(await start('--fork', dir, '--fork-block', '99')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('does not have the block'),
    })
    expect(await start('--fork', join(dir, 'nowhere'))).toMatchObject({
      code: 1,
      errors: expect.stringContaining('nowhere'),
    })
    const source = await NodeProcess.start(['--data-dir', dir])
    expect(await start('--fork', dir)).toMatchObject({ code: 1, errors: expect.stringContaining('another process') })
    await source.stop()
  }, 60_000)
})

test('behavior: without the storage of the Bridge, its answers come from the other node, and changes fail', async () => {
  const plain = await NodeProcess.start()
  const changed = await send(plain, { from: cow, to: bridge, data: '0x0c5a9990' })
  for (let number = 0; number < 15; number++) await plain.result('evm_mine')
  const own = await CountingProxy.start(() => plain.url)
  const node = await NodeProcess.start(['--fork', own.url, '--no-fork-cache'])
  const call = (data: string) => [{ to: bridge, data }, 'latest']
  for (const data of ['0x802ad4b6', '0x6923fa85']) {
    expect(await node.result('eth_call', call(data))).toBe(await plain.result('eth_call', call(data)))
  }
  for (const slot of ['0x0', '0x1'])
    expect(await node.result('eth_getStorageAt', [bridge, slot, 'latest'])).toBe(
      await plain.result('eth_getStorageAt', [bridge, slot, 'latest']),
    )
  // The other node traces what the fork cannot execute, and nothing else.
  own.take()
  for (const params of [['0x2'], ['0x10']])
    expect(await node.result('trace_block', params)).toEqual(await plain.result('trace_block', params))
  expect(own.take()).not.toContain('trace_block')
  const traced = [changed.transactionHash]
  expect(await node.result('trace_transaction', traced)).toEqual(await plain.result('trace_transaction', traced))
  expect(own.take()).toContain('trace_transaction')
  // REMASC needs the federation.
  for (let number = 0; number < 3; number++) await node.result('evm_mine')
  // updateCollections()
  const { error } = await node.ask('eth_call', [{ from: cow, to: bridge, data: '0x0c5a9990' }, 'latest'])
  expect(error).toMatchObject({
    code: -32000,
    message: expect.stringMatching(/^updateCollections of the Bridge: .*rsk_getStorageBytesAt/),
  })
  const refused = await node.ask('hardhat_setStorageAt', [bridge, '0x1', `0x${'00'.repeat(31)}01`])
  expect(refused.error).toMatchObject({ code: -32000 })
  expect(node.errors).not.toContain('internal error')
  await node.stop()
  own.stop()
  await plain.stop()
})

describe('a remote node that is no good', () => {
  const start = (url: string, ...flags: string[]) =>
    runCommand(['start', '--fork', url, '--no-fork-cache', '--http-port', '0', '--log-level', 'error', ...flags])

  test('error: the start fails in words', async () => {
    const scripted = (answer: (method: string) => unknown): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer(async (request, response) => {
          const chunks: Buffer[] = []
          for await (const chunk of request) chunks.push(chunk)
          const calls = [JSON.parse(Buffer.concat(chunks).toString())].flat() as { id: number; method: string }[]
          response.end(JSON.stringify(calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: answer(method) }))))
        }).listen(0, '127.0.0.1', () => resolve(server))
      })
    const ethereum = await scripted((method) =>
      method === 'eth_chainId' ? '0x1' : { number: '0x1', hash: `0x${'ab'.repeat(32)}` },
    )
    const url = `http://127.0.0.1:${(ethereum.address() as AddressInfo).port}`
    expect(await start(url)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('chain id 1 is not one of Rootstock'),
    })
    ethereum.close()
    ethereum.closeAllConnections()
    const away = await start(`${url}/secret-key`)
    expect(away).toMatchObject({ code: 1, errors: expect.stringContaining('does not answer') })
    expect(away.errors).not.toContain('secret-key')
    expect(await start(remote.url, '--fork-block', '999999')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('has no block'),
    })
  })

  test('error: settings that do not fit are refused', async () => {
    expect(await start('ftp://node')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('fork.url: expected an http or https URL'),
    })
    expect(await start(remote.url, '--fork-block', 'best')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('fork.block: expected'),
    })
    expect(await start(remote.url, '--network', 'mainnet')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('cannot be combined with --network'),
    })
    expect(await start(remote.url, '--data-dir', folder)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('cannot be combined with --data-dir'),
    })
  })
})
