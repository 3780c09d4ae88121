import {
  type BaseError,
  createPublicClient,
  createWalletClient,
  decodeErrorResult,
  defineChain,
  getContract,
  http,
  parseAbi,
  parseEther,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter, keys } from './contract.ts'
import { NodeProcess } from './node.ts'

const abi = parseAbi([
  'constructor(uint256 start)',
  'event Increased(address indexed by, uint256 indexed step, uint256 total)',
  'error TooMuch(uint256 wanted, uint256 most)',
  'function total() view returns (uint256)',
  'function increase(uint256 step) returns (uint256)',
  'function decrease(uint256 step)',
])

describe('viem', () => {
  let node: NodeProcess
  let address: `0x${string}`
  const account = privateKeyToAccount(keys[0])

  const clients = () => {
    const chain = defineChain({
      id: 33,
      name: 'regtest',
      nativeCurrency: { name: 'RBTC', symbol: 'RBTC', decimals: 18 },
      rpcUrls: { default: { http: [node.url] } },
    })
    const transport = http(node.url, { retryCount: 0 })
    return {
      reader: createPublicClient({ chain, transport, pollingInterval: 50, cacheTime: 0 }),
      writer: createWalletClient({ chain, transport, account }),
    }
  }
  const contract = () => {
    const { reader, writer } = clients()
    return getContract({ address, abi, client: { public: reader, wallet: writer } })
  }

  beforeAll(async () => {
    node = await NodeProcess.start()
    const { reader, writer } = clients()
    const hash = await writer.deployContract({ abi, bytecode: counter.bytecode, args: [40n] })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    address = receipt.contractAddress as `0x${string}`
  })
  afterAll(() => node?.stop())

  test('behavior: reads a deployed contract', async () => {
    const { reader } = clients()
    expect(await reader.getChainId()).toBe(33)
    expect(await contract().read.total()).toBe(40n)
    expect((await reader.getCode({ address }))?.length).toBeGreaterThan(100)
    expect(await reader.getStorageAt({ address, slot: '0x0' })).toBe(`0x${'28'.padStart(64, '0')}`)
  })

  test('behavior: a transaction, its receipt, its event with getLogs and with a filter', async () => {
    const { reader } = clients()
    const filter = await reader.createContractEventFilter({ abi, address, eventName: 'Increased' })
    const hash = await contract().write.increase([2n])
    const receipt = await reader.waitForTransactionReceipt({ hash })
    expect(receipt).toMatchObject({ status: 'success', from: account.address.toLowerCase() })
    expect(await contract().read.total()).toBe(42n)

    const expected = { eventName: 'Increased', args: { by: account.address, step: 2n, total: 42n } }
    const events = await reader.getContractEvents({ abi, address, fromBlock: receipt.blockNumber })
    expect(events).toMatchObject([expected])
    expect(await reader.getFilterChanges({ filter })).toMatchObject([expected])
    expect(await reader.getFilterChanges({ filter })).toEqual([])
    expect(await reader.uninstallFilter({ filter })).toBe(true)

    const none = await reader.getContractEvents({
      abi,
      address,
      eventName: 'Increased',
      args: { step: 3n },
      fromBlock: 0n,
    })
    expect(none).toEqual([])
  })

  test('behavior: a watcher sees an event', async () => {
    const { reader } = clients()
    const seen = new Promise<unknown>((resolve) => {
      const stop = reader.watchContractEvent({
        abi,
        address,
        eventName: 'Increased',
        args: { step: 7n },
        onLogs: ([log]) => {
          stop()
          resolve(log?.args)
        },
      })
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    await contract().write.increase([7n])
    expect(await seen).toMatchObject({ step: 7n })
  })

  test.each([
    ['a text', 'increase', 0n, { errorName: 'Error', args: ['the step is zero'] }],
    ['a custom error', 'increase', 2000n, { errorName: 'TooMuch', args: [2000n, 1000n] }],
    ['a panic', 'decrease', 10n ** 30n, { errorName: 'Panic', args: [17n] }],
  ] as const)('error: a revert with %s', async (_kind, functionName, step, expected) => {
    const { reader } = clients()
    const failure = await reader
      .simulateContract({ abi, address, functionName, args: [step], account })
      .catch((error) => error as BaseError)
    const told = (failure as BaseError).walk((one) => typeof (one as { data?: unknown }).data === 'string')
    expect(told).toMatchObject({ code: -32015 })
    const { data } = told as unknown as { data: `0x${string}` }
    expect(decodeErrorResult({ abi, data })).toMatchObject(expected)
  })

  test('behavior: many requests at once, as a batch', async () => {
    const bodies: string[] = []
    const transport = http(node.url, {
      batch: true,
      retryCount: 0,
      onFetchRequest: (_request, { body }) => {
        bodies.push(String(body))
      },
    })
    const reader = createPublicClient({ transport })
    const [chainId, total, failure] = await Promise.all([
      reader.getChainId(),
      reader.readContract({ abi, address, functionName: 'total' }),
      reader.simulateContract({ abi, address, functionName: 'increase', args: [0n], account }).catch(String),
    ])
    expect([chainId, total]).toEqual([33, await contract().read.total()])
    expect(failure).toContain('the step is zero')
    expect(bodies.map((body) => JSON.parse(body).length)).toEqual([3])
  })

  test('behavior: estimates, balances and a plain payment', async () => {
    const { reader, writer } = clients()
    const to = '0x00000000000000000000000000000000000000ff'
    expect(await reader.estimateGas({ account, to, value: 1n })).toBe(21_000n)
    expect(await contract().estimateGas.increase([1n], { account })).toBeGreaterThan(21_000n)
    const hash = await writer.sendTransaction({ to, value: parseEther('1.5') })
    await reader.waitForTransactionReceipt({ hash })
    expect(await reader.getBalance({ address: to })).toBe(parseEther('1.5'))
    expect(await reader.getTransaction({ hash })).toMatchObject({ to, value: parseEther('1.5'), type: 'legacy' })
    const block = await reader.getBlock({ includeTransactions: true })
    expect(block.transactions.some((one) => one.hash === hash)).toBe(true)
    expect(await reader.getTransactionCount({ address: account.address })).toBeGreaterThan(0)
  })
})
