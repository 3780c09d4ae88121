import { JsonRpcProvider, JsonRpcSigner } from 'ethers'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  http,
  pad,
  parseAbi,
  parseEther,
  publicActions,
  walletActions,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { counter } from './contract.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'

const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const stranger = '0x000000000000000000000000000000000000beef'
const receiver = '0x000000000000000000000000000000000000fade'
const abi = parseAbi(['constructor(uint256 start)', 'function total() view returns (uint256)'])

/** Returns the gas limit of the next block when it moves up. */
function grown(parent: bigint): bigint {
  return parent + parent / 1024n
}

function regtest(url: string) {
  return defineChain({
    id: 33,
    name: 'regtest',
    nativeCurrency: { name: 'RBTC', symbol: 'RBTC', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
}

describe.each(['hardhat', 'anvil'] as const)('the test client of viem in mode %s', (mode) => {
  let node: NodeProcess
  const client = () =>
    createTestClient({ mode, chain: regtest(node.url), transport: http(node.url, { retryCount: 0 }), cacheTime: 0 })
      .extend(publicActions)
      .extend(walletActions)
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test('behavior: balances, nonces, code and storage slots change at once', async () => {
    const test = client()
    await test.setBalance({ address: stranger, value: parseEther('3') })
    expect(await test.getBalance({ address: stranger })).toBe(parseEther('3'))
    await test.setNonce({ address: stranger, nonce: 7 })
    expect(await test.getTransactionCount({ address: stranger })).toBe(7)
    // Returns storage slot 5.
    await test.setCode({ address: stranger, bytecode: '0x60055460005260206000f3' })
    expect(await test.getCode({ address: stranger })).toBe('0x60055460005260206000f3')
    const word = pad('0x2a')
    await test.setStorageAt({ address: stranger, index: 5, value: word })
    expect(await test.getStorageAt({ address: stranger, slot: '0x5' })).toBe(word)
    expect((await test.call({ to: stranger })).data).toBe(word)
    expect(await test.getBlockNumber({ cacheTime: 0 })).toBe(0n)
    // The next block builds on this state.
    await test.mine({ blocks: 2 })
    expect(await test.getBalance({ address: stranger })).toBe(parseEther('3'))
    expect((await test.call({ to: stranger })).data).toBe(word)
    await test.setCode({ address: stranger, bytecode: '0x' })
    expect(await test.getCode({ address: stranger })).toBeUndefined()
  })

  test('behavior: an impersonated account sends', async () => {
    const test = client()
    const sender = '0x00000000000000000000000000000000000000aa'
    const send = () => test.sendTransaction({ account: sender, to: receiver, value: 1n, gas: 21_000n, gasPrice: 0n })
    await expect(send()).rejects.toThrow(/Could not find account/)
    await test.setBalance({ address: sender, value: parseEther('1') })
    await test.impersonateAccount({ address: sender })
    const hash = await send()
    const receipt = await test.getTransactionReceipt({ hash })
    expect([receipt.status, receipt.from]).toEqual(['success', sender])
    expect((await test.getTransaction({ hash })).from).toBe(sender)
    await test.stopImpersonatingAccount({ address: sender })
    await expect(send()).rejects.toThrow(/Could not find account/)
  })

  test('behavior: a snapshot includes state that was set directly', async () => {
    const test = client()
    await test.setBalance({ address: stranger, value: 5n })
    const id = await test.snapshot()
    await test.setBalance({ address: stranger, value: 6n })
    await test.mine({ blocks: 1 })
    await test.revert({ id })
    expect(await test.getBalance({ address: stranger })).toBe(5n)
  })

  test('behavior: times', async () => {
    const test = client()
    const time = async () => Number((await test.getBlock()).timestamp)
    const before = await time()
    await test.setNextBlockTimestamp({ timestamp: BigInt(before + 1000) })
    await test.mine({ blocks: 1 })
    expect(await time()).toBe(before + 1000)
    // Later blocks continue from there, and every method that moves the clock counts.
    await test.increaseTime({ seconds: 3600 })
    await test.mine({ blocks: 1 })
    const later = await time()
    expect(later).toBeGreaterThanOrEqual(before + 4600)
    await test.increaseTime({ seconds: 3600 })
    await test.mine({ blocks: 1 })
    expect(await time()).toBeGreaterThanOrEqual(later + 3600)
    const from = await time()
    await test.mine({ blocks: 3, interval: 60 })
    expect(await time()).toBeGreaterThanOrEqual(from + 120)
    await expect(test.setNextBlockTimestamp({ timestamp: 5n })).rejects.toThrow(/must be after the head/)
  })

  test('behavior: settings of new blocks change, and a revert restores them', async () => {
    const test = client()
    const before = await test.getBlock()
    const id = await test.snapshot()
    await test.setCoinbase({ address: stranger })
    await test.setBlockGasLimit({ gasLimit: before.gasLimit * 2n })
    await test.setMinGasPrice({ gasPrice: 2n })
    // Both names of the method set the same target: the last call counts.
    await node.result('hardhat_setMinGasPrice', ['0x1'])
    await test.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n })
    await test.setLoggingEnabled(false)
    await test.mine({ blocks: 2 })
    const after = (await test.getBlock()) as typeof before & { minimumGasPrice: string }
    expect(after.miner).toBe(stranger)
    expect(await node.result('eth_coinbase')).toBe(stranger)
    expect(after.gasLimit).toBe(grown(grown(before.gasLimit)))
    expect([after.minimumGasPrice, after.baseFeePerGas]).toEqual(['0x1', null])
    await test.revert({ id })
    await test.mine({ blocks: 1 })
    const reverted = (await test.getBlock()) as typeof after
    expect(reverted.miner).not.toBe(stranger)
    expect([reverted.gasLimit < before.gasLimit, reverted.minimumGasPrice]).toEqual([true, '0x0'])
    const { error } = await node.ask('evm_setBlockGasLimit', ['0x2dc6bf'])
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('3000000') })
    await test.revert({ id })
  })

  test('behavior: a transaction without a signature', async () => {
    const test = client()
    await test.setBalance({ address: stranger, value: parseEther('3') })
    const before = await test.getBalance({ address: receiver })
    const hash = await test.sendUnsignedTransaction({ from: stranger, to: receiver, value: 5n, gas: 21_000n })
    expect(await test.getTransactionReceipt({ hash })).toMatchObject({
      from: stranger,
      to: receiver,
      status: 'success',
    })
    expect(await test.getBalance({ address: receiver })).toBe(before + 5n)
    // Transactions of an account whose key the node has are signed.
    const signed = await test.sendUnsignedTransaction({ from: cow, to: receiver, value: 1n, gas: 21_000n })
    expect(Number((await test.getTransaction({ hash: signed })).r)).toBeGreaterThan(2 ** 160)
  })

  test('behavior: when blocks are mined', async () => {
    const test = client()
    expect(await test.getAutomine()).toBe(true)
    await test.setAutomine(false)
    expect(await test.getAutomine()).toBe(false)
    const number = await test.getBlockNumber({ cacheTime: 0 })
    const send = () => test.sendTransaction({ account: cow, to: receiver, value: 1n, gas: 21_000n, gasPrice: 0n })
    const dropped = await send()
    await test.dropTransaction({ hash: dropped })
    expect(await node.result('eth_getTransactionByHash', [dropped])).toBeNull()
    const kept = await send()
    expect(await test.getBlockNumber({ cacheTime: 0 })).toBe(number)
    await node.result('evm_setIntervalMining', [50])
    const receipt = await test.waitForTransactionReceipt({ hash: kept, pollingInterval: 20 })
    expect(receipt.status).toBe('success')
    await node.result('evm_setIntervalMining', [0])
    await test.setAutomine(true)
    const mined = await send()
    expect((await test.getTransactionReceipt({ hash: mined })).status).toBe('success')
  })

  test('behavior: back to the beginning', async () => {
    const test = client()
    await test.setBalance({ address: stranger, value: 77n })
    await test.reset()
    expect(await test.getBlockNumber({ cacheTime: 0 })).toBe(0n)
    expect(await test.getBalance({ address: stranger })).toBe(0n)
    await expect(test.reset({ jsonRpcUrl: 'http://127.0.0.1:1', blockNumber: 5n })).rejects.toThrow(/does not answer/)
  })
})

describe('the flow of a contract test', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(() => node?.stop())

  test('behavior: a fixture is deployed once and gone back to, by viem, ethers and web3', async () => {
    const chain = regtest(node.url)
    const wallet = createWalletClient({ account: cow, chain, transport: http(node.url) })
    const reader = createPublicClient({ chain, transport: http(node.url), pollingInterval: 20, cacheTime: 0 })
    const hash = await wallet.deployContract({ abi, bytecode: counter.bytecode, args: [40n], gas: 1_000_000n })
    const { contractAddress: address } = await reader.waitForTransactionReceipt({ hash })
    const total = () => reader.readContract({ address: address as `0x${string}`, abi, functionName: 'total' })
    expect(await total()).toBe(40n)

    const provider = new JsonRpcProvider(node.url, undefined, { polling: true, pollingInterval: 20, cacheTimeout: -1 })
    const snapshot = await provider.send('evm_snapshot', [])
    await provider.send('hardhat_setStorageAt', [address, '0x0', pad('0x7b')])
    expect(await total()).toBe(123n)
    await provider.send('hardhat_impersonateAccount', [stranger])
    await provider.send('hardhat_setBalance', [stranger, '0xde0b6b3a7640000'])
    const signer = new JsonRpcSigner(provider, stranger)
    const sent = await signer.sendTransaction({ to: cow, value: 5n, gasLimit: 21_000n, gasPrice: 1n })
    expect((await sent.wait())?.from.toLowerCase()).toBe(stranger)
    expect(await provider.send('evm_revert', [snapshot])).toBe(true)
    provider.destroy()
    expect(await total()).toBe(40n)

    const { eth, provider: transport } = new Web3(node.url)
    await transport?.request({ jsonrpc: '2.0', id: 1, method: 'anvil_setBalance', params: [stranger, '0x64'] } as never)
    expect(await eth.getBalance(stranger)).toBe(100n)
  })
})

test('behavior: a chain with changed states and impersonated senders starts again and verifies', async () => {
  const folder = scratchFolder()
  const data = ['--data-dir', folder]
  let node = await NodeProcess.start(data)
  await node.result('hardhat_setBalance', [stranger, '0xde0b6b3a7640000'])
  await node.result('hardhat_impersonateAccount', [stranger])
  const sent = await node.result('eth_sendTransaction', [{ from: stranger, to: cow, value: '0x1' }])
  await node.result('hardhat_setNonce', [cow, '0x9'])
  await node.result('evm_mine')
  await node.stop()
  const verified = await runCommand(['verify', '--from', '0', '--to', '2', '--state', ...data])
  expect([verified.code, verified.errors]).toEqual([0, ''])
  node = await NodeProcess.start(data)
  expect(await node.result('eth_getTransactionByHash', [sent])).toMatchObject({ from: stranger })
  expect(await node.result('eth_getTransactionCount', [cow, 'latest'])).toBe('0x9')
  // The signature is invalid, so the transaction is rejected outside of blocks.
  const raw = await impersonatedTransaction()
  expect((await node.ask('eth_sendRawTransaction', [raw])).error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/in place of a signature/),
  })
  await node.stop()
})

/** Returns a transaction that claims to be from the richest account. */
async function impersonatedTransaction(): Promise<string> {
  const { serializeTransaction } = await import('viem')
  const r = `0x${Buffer.from('impersonated').toString('hex')}${cow.slice(2)}` as const
  return serializeTransaction(
    { type: 'legacy', chainId: 33, nonce: 9, gas: 21_000n, gasPrice: 1n, to: stranger, value: 1n },
    { r, s: pad('0x1'), v: 101n },
  )
}

describe('development methods', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(async () => {
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test.each([
    ['evm_mine', ['soon'], /Invalid timestamp: soon/],
    ['evm_mine', [{ blocks: -1 }], /options\.blocks: expected a number/],
    ['evm_mine', [{ timestamp: 0 }], /must be after the head/],
    ['evm_mine', [[]], /options: expected/],
    ['evm_setAutomine', ['yes'], /automine: expected true or false/],
    ['evm_setAutomine', [], /takes \[automine\]/],
    ['evm_setIntervalMining', [-5], /interval: expected a number/],
    ['evm_setNextBlockTimestamp', ['0x1ffffffff'], /timestamp: expected a number/],
    ['hardhat_mine', ['many'], /blocks: expected a number/],
    ['hardhat_mine', [1, 'slow'], /interval: expected a number/],
    ['hardhat_setBalance', [stranger], /takes \[address, balance\]/],
    ['hardhat_setBalance', [stranger, '-5'], /balance: expected a number/],
    ['hardhat_setBalance', [stranger, `0x${'f'.repeat(64)}`], /2\^255 or more/],
    ['hardhat_setBalance', ['0x12', '0x1'], /address: expected 20 bytes/],
    ['hardhat_setCode', [stranger, '0x123'], /code: expected bytes/],
    ['hardhat_setNonce', [stranger, 'x'], /nonce: expected a number/],
    ['hardhat_setStorageAt', [stranger, 'zz', '0x1'], /position: expected a number/],
    ['hardhat_setStorageAt', [stranger, '0x1', null], /value: expected a number/],
    ['hardhat_dropTransaction', ['0x12'], /expected 32 bytes/],
    ['hardhat_impersonateAccount', [null], /address: expected/],
    ['hardhat_stopImpersonatingAccount', [''], /address: expected/],
    ['hardhat_reset', [{ forking: { jsonRpcUrl: 'file:///x' } }], /not an http or https URL/],
    ['hardhat_getAutomine', [1], /takes no parameters/],
  ])('error: %s %j', async (method, params, message) => {
    expect((await node.ask(method, params)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(message),
    })
  })

  test('behavior: endless mining ends with the request', async () => {
    const slow = await NodeProcess.start([], '[rpc]\ntimeoutMs = 300\n')
    expect((await slow.ask('hardhat_mine', ['0xf4240'])).error).toMatchObject({
      code: -32011,
      message: expect.stringMatching(/of 1000000 blocks are mined/),
    })
    await slow.stop()
  })
})
