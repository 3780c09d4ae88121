import { type Contract, ContractFactory, type EventLog, JsonRpcProvider, parseEther, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter, keys } from './contract.ts'
import { NodeProcess } from './node.ts'

describe('ethers', () => {
  let node: NodeProcess
  let provider: JsonRpcProvider
  let wallet: Wallet
  let contract: Contract

  beforeAll(async () => {
    node = await NodeProcess.start()
    provider = new JsonRpcProvider(node.url, undefined, { cacheTimeout: -1 })
    provider.pollingInterval = 50
    wallet = new Wallet(keys[0], provider)
    const deployed = await new ContractFactory(counter.abi, counter.bytecode, wallet).deploy(40n)
    contract = (await deployed.waitForDeployment()) as Contract
  })
  afterAll(async () => {
    provider?.destroy()
    await node?.stop()
  })

  const call = (name: string) => contract.getFunction(name)

  test('behavior: reads a deployed contract', async () => {
    expect((await provider.getNetwork()).chainId).toBe(33n)
    expect(await call('total')()).toBe(40n)
  })

  test('behavior: a transaction, its receipt and its event with getLogs', async () => {
    const sent = await call('increase')(2n)
    const receipt = await sent.wait()
    expect(receipt).toMatchObject({ status: 1, from: wallet.address })
    expect(await call('total')()).toBe(42n)
    const events = (await contract.queryFilter('Increased', receipt.blockNumber)) as EventLog[]
    expect(events.map((event) => event.args.toArray())).toEqual([[wallet.address, 2n, 42n]])
  })

  test('behavior: an event listener', async () => {
    const seen = new Promise<bigint>((resolve) => {
      void contract.once('Increased', (_by, step) => resolve(step))
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    await (await call('increase')(7n)).wait()
    expect(await seen).toBe(7n)
  })

  test('behavior: a filter of the node', async () => {
    const id = await provider.send('eth_newFilter', [{ address: await contract.getAddress(), topics: [] }])
    await provider.send('eth_getFilterChanges', [id])
    await (await call('increase')(3n)).wait()
    const [log] = await provider.send('eth_getFilterChanges', [id])
    expect(contract.interface.parseLog(log)?.args.step).toBe(3n)
    expect(log.removed).toBe(false)
  })

  test('error: reverts with a text, a custom error and a panic', async () => {
    await expect(call('increase').staticCall(0n)).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      reason: 'the step is zero',
    })
    const custom = await call('increase')
      .staticCall(2000n)
      .catch((error) => error)
    expect(custom.revert).toMatchObject({ name: 'TooMuch' })
    expect(custom.revert.args.toArray()).toEqual([2000n, 1000n])
    const panic = await call('decrease')
      .staticCall(10n ** 30n)
      .catch((error) => error)
    expect(panic.revert).toMatchObject({ name: 'Panic' })
  })

  test('error: a transaction that reverts is refused with its reason, though it is mined', async () => {
    const nonce = await provider.getTransactionCount(wallet.address)
    await expect(call('increase')(0n, { gasLimit: 100_000 })).rejects.toThrow(/the step is zero/)
    expect(await provider.getTransactionCount(wallet.address)).toBe(nonce + 1)
  })

  test('behavior: the accounts of the node sign by themselves', async () => {
    const [signer] = await provider.listAccounts()
    const to = '0x00000000000000000000000000000000000000fe'
    const sent = await signer?.sendTransaction({ to, value: parseEther('2') })
    expect((await sent?.wait())?.status).toBe(1)
    expect(await provider.getBalance(to)).toBe(parseEther('2'))
    expect(await signer?._legacySignMessage('hello')).toMatch(/^0x[0-9a-f]{130}$/)
  })

  test('behavior: many requests at once, as batches', async () => {
    const small = new JsonRpcProvider(node.url, 33, { staticNetwork: true, batchMaxCount: 50 })
    const counts = await Promise.all(Array.from({ length: 120 }, () => small.getBalance(wallet.address)))
    expect(new Set(counts).size).toBe(1)
    small.destroy()
  })
})
