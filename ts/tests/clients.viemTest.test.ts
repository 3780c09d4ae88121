import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTestClient, defineChain, http, pad, parseEther, publicActions, testActions, walletActions } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

// Every action of viem's test client, by its effect.

const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const stranger = '0x000000000000000000000000000000000000beef'
const receiver = '0x000000000000000000000000000000000000fade'
// Returns storage slot 5.
const code = '0x60055460005260206000f3'

type Mode = 'anvil' | 'hardhat' | 'ganache'

/** Actions that viem sends as `ganache_` methods, which Ganache does not have. */
const notOfGanache: readonly string[] = [
  'dropTransaction',
  'dumpState',
  'impersonateAccount',
  'loadState',
  'removeBlockTimestampInterval',
  'reset',
  'setBlockTimestampInterval',
  'setCoinbase',
  'setLoggingEnabled',
  'setMinGasPrice',
  'setNextBlockBaseFeePerGas',
  'setNonce',
  'setRpcUrl',
  'setStorageAt',
  'stopImpersonatingAccount',
]

function clientOf(mode: Mode, { url }: NodeProcess) {
  const chain = defineChain({
    id: 33,
    name: 'regtest',
    nativeCurrency: { name: 'RBTC', symbol: 'RBTC', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  return createTestClient({ mode, chain, transport: http(url, { retryCount: 0 }), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

type Client = ReturnType<typeof clientOf>
type Check = (client: Client, mode: Mode) => Promise<void>

let remote: NodeProcess
let passed: string[] = []
/** Passes requests on to `remote`. */
let passage: Server

const urlOfPassage = (): string => `http://127.0.0.1:${(passage.address() as AddressInfo).port}`
const number = (client: Client): Promise<bigint> => client.getBlockNumber({ cacheTime: 0 })
const time = async (client: Client): Promise<number> => Number((await client.getBlock()).timestamp)
const payment = (client: Client, account: `0x${string}` = cow): Promise<`0x${string}`> =>
  client.sendTransaction({ account, to: receiver, value: 1n, gas: 21_000n, gasPrice: 0n })
/** Returns the pending transactions of the account. As in rskj, addresses have no 0x, and nonces have lists. */
const ofCow = ({ pending }: { pending: object }): unknown[] =>
  Object.values((pending as Record<string, object>)[cow.slice(2)] ?? {})

/** Sends a transaction that waits in the pool. */
async function waiting(client: Client): Promise<`0x${string}`> {
  await client.setAutomine(false)
  return payment(client)
}

const checks: Record<keyof ReturnType<ReturnType<typeof testActions>>, Check> = {
  async dropTransaction(client) {
    const hash = await waiting(client)
    await client.dropTransaction({ hash })
    await expect(client.getTransaction({ hash })).rejects.toThrow(/could not be found/)
  },
  async dumpState(client) {
    await client.setBalance({ address: stranger, value: 5n })
    expect(await client.dumpState()).toMatch(/^0x1f8b/)
  },
  async getAutomine(client) {
    expect(await client.getAutomine()).toBe(true)
    await client.setAutomine(false)
    expect(await client.getAutomine()).toBe(false)
  },
  async getTxpoolContent(client) {
    const hash = await waiting(client)
    expect(ofCow(await client.getTxpoolContent())).toMatchObject([[{ hash }]])
  },
  async getTxpoolStatus(client) {
    expect(await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 })
    await waiting(client)
    expect(await client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 })
  },
  async impersonateAccount(client) {
    await client.setBalance({ address: stranger, value: 1n })
    await client.impersonateAccount({ address: stranger })
    const receipt = await client.getTransactionReceipt({ hash: await payment(client, stranger) })
    expect([receipt.status, receipt.from]).toEqual(['success', stranger])
  },
  async increaseTime(client) {
    const before = await time(client)
    await client.increaseTime({ seconds: 7200 })
    await client.mine({ blocks: 1 })
    expect(await time(client)).toBeGreaterThanOrEqual(before + 7200)
  },
  async inspectTxpool(client) {
    await waiting(client)
    expect(ofCow(await client.inspectTxpool())).toEqual([[expect.stringContaining(receiver.slice(2))]])
  },
  async loadState(client) {
    await client.setBalance({ address: stranger, value: 5n })
    const state = await client.dumpState()
    await client.setBalance({ address: stranger, value: 6n })
    await client.loadState({ state })
    expect(await client.getBalance({ address: stranger })).toBe(5n)
  },
  async mine(client, mode) {
    const [before, from] = [await number(client), await time(client)]
    await client.mine({ blocks: 3, interval: 60 })
    expect(await number(client)).toBe(before + 3n)
    // viem sends no interval to Ganache.
    if (mode !== 'ganache') expect(await time(client)).toBeGreaterThanOrEqual(from + 120)
  },
  async removeBlockTimestampInterval(client) {
    await client.setBlockTimestampInterval({ interval: 500 })
    await client.removeBlockTimestampInterval()
    const before = await time(client)
    await client.mine({ blocks: 1 })
    expect(await time(client)).toBeLessThan(before + 500)
  },
  async reset(client) {
    await client.reset({ jsonRpcUrl: remote.url, blockNumber: 2n })
    expect(await number(client)).toBe(2n)
    expect(await client.getBalance({ address: stranger })).toBe(42n)
    // Without a block it goes back to the first one of the fork.
    await client.mine({ blocks: 3 })
    await client.reset()
    expect(await number(client)).toBe(2n)
  },
  async revert(client) {
    const id = await client.snapshot()
    const before = await number(client)
    await client.mine({ blocks: 2 })
    await client.revert({ id })
    expect(await number(client)).toBe(before)
  },
  async sendUnsignedTransaction(client) {
    await client.setBalance({ address: stranger, value: 5n })
    const hash = await client.sendUnsignedTransaction({ from: stranger, to: receiver, value: 5n, gas: 21_000n })
    const receipt = await client.getTransactionReceipt({ hash })
    expect([receipt.status, receipt.from]).toEqual(['success', stranger])
  },
  async setAutomine(client) {
    const hash = await waiting(client)
    await expect(client.getTransactionReceipt({ hash })).rejects.toThrow(/could not be found/)
    await client.setAutomine(true)
    expect((await client.getTransactionReceipt({ hash: await payment(client) })).status).toBe('success')
  },
  async setBalance(client) {
    await client.setBalance({ address: stranger, value: parseEther('3') })
    expect(await client.getBalance({ address: stranger })).toBe(parseEther('3'))
  },
  async setBlockGasLimit(client) {
    const { gasLimit } = await client.getBlock()
    await client.setBlockGasLimit({ gasLimit: gasLimit * 2n })
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).gasLimit).toBeGreaterThan(gasLimit)
  },
  async setBlockTimestampInterval(client) {
    await client.setBlockTimestampInterval({ interval: 500 })
    const before = await time(client)
    await client.mine({ blocks: 2 })
    expect(await time(client)).toBe(before + 1000)
  },
  async setCode(client) {
    await client.setCode({ address: stranger, bytecode: code })
    expect(await client.getCode({ address: stranger })).toBe(code)
  },
  async setCoinbase(client) {
    await client.setCoinbase({ address: stranger })
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).miner).toBe(stranger)
  },
  async setIntervalMining(client, mode) {
    const before = await number(client)
    // viem sends seconds in its mode for anvil, and milliseconds in that for Hardhat, to the same method.
    await client.setIntervalMining({ interval: mode === 'hardhat' ? 0.05 : 50 })
    await expect.poll(() => number(client)).toBeGreaterThan(before + 1n)
    await client.setIntervalMining({ interval: 0 })
    const after = await number(client)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await number(client)).toBe(after)
  },
  async setLoggingEnabled(client) {
    await client.setLoggingEnabled(false)
    await client.setLoggingEnabled(true)
  },
  async setMinGasPrice(client) {
    await client.setMinGasPrice({ gasPrice: 2n })
    await client.mine({ blocks: 2 })
    expect(await client.getGasPrice()).toBeGreaterThan(0n)
  },
  async setNextBlockBaseFeePerGas(client) {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n })
    await client.mine({ blocks: 1 })
    expect((await client.getBlock()).baseFeePerGas).toBeNull()
  },
  async setNextBlockTimestamp(client) {
    const wanted = (await time(client)) + 1234
    await client.setNextBlockTimestamp({ timestamp: BigInt(wanted) })
    await client.mine({ blocks: 1 })
    expect(await time(client)).toBe(wanted)
  },
  async setNonce(client) {
    await client.setNonce({ address: stranger, nonce: 7 })
    expect(await client.getTransactionCount({ address: stranger })).toBe(7)
  },
  async setRpcUrl(client) {
    await client.reset({ jsonRpcUrl: remote.url, blockNumber: 2n })
    passed = []
    await client.setRpcUrl(urlOfPassage())
    expect(await client.getCode({ address: stranger })).toBe(code)
    expect(passed.join()).toContain('eth_getCode')
  },
  async setStorageAt(client) {
    await client.setCode({ address: stranger, bytecode: code })
    const word = pad('0x2a')
    await client.setStorageAt({ address: stranger, index: 5, value: word })
    expect((await client.call({ to: stranger })).data).toBe(word)
    await client.setStorageAt({ address: stranger, index: pad('0x5'), value: pad('0x2b') })
    expect(await client.getStorageAt({ address: stranger, slot: '0x5' })).toBe(pad('0x2b'))
  },
  async snapshot(client) {
    expect(await client.snapshot()).toMatch(/^0x/)
  },
  async stopImpersonatingAccount(client) {
    await client.impersonateAccount({ address: stranger })
    await client.stopImpersonatingAccount({ address: stranger })
    await expect(payment(client, stranger)).rejects.toThrow(/Could not find account/)
  },
}

beforeAll(async () => {
  remote = await NodeProcess.start()
  const client = clientOf('hardhat', remote)
  await client.setBalance({ address: stranger, value: 42n })
  await client.setCode({ address: stranger, bytecode: code })
  await client.mine({ blocks: 2 })
  passage = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    passed.push(body)
    const answer = await fetch(remote.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.end(await answer.text())
  })
  await new Promise<void>((resolve) => passage.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await remote.stop()
  passage.close()
  passage.closeAllConnections()
})

describe.each(['anvil', 'hardhat', 'ganache'] as const)('the test client of viem in mode %s', (mode) => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start(['--no-fork-cache'])
  })
  // The time of genesis is 0.
  beforeEach(() => node.result('evm_mine'))
  afterEach(async () => {
    await node.result('evm_setAutomine', [true])
    await node.result('evm_setIntervalMining', [0])
    await node.result('hardhat_reset')
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test('behavior: each of its actions is known here', () => {
    const actions = testActions({ mode })(clientOf(mode, node) as never)
    expect(Object.keys(actions).sort()).toEqual(Object.keys(checks).sort())
  })

  const names = Object.keys(checks) as (keyof typeof checks)[]
  const isOffered = (name: string) => mode !== 'ganache' || !notOfGanache.includes(name)
  test.each(names.filter(isOffered))('behavior: %s', (name) => checks[name](clientOf(mode, node), mode))

  if (mode === 'ganache')
    test.each(notOfGanache)('error: %s is no method of Ganache', async (name) => {
      const client = clientOf(mode, node) as unknown as Record<string, (parameters: object) => Promise<unknown>>
      const parameters = { address: stranger, hash: pad('0x1'), state: '0x', value: pad('0x1'), index: 0 }
      const numbers = { nonce: 1, interval: 1, gasPrice: 1n, baseFeePerGas: 1n }
      await expect(client[name]?.({ ...parameters, ...numbers })).rejects.toMatchObject({ cause: { code: -32601 } })
    })
})
