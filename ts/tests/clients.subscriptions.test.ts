import { Contract, ContractFactory, Wallet, WebSocketProvider } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, parseAbi, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContractAbi, Web3 } from 'web3'
import { counter, keys } from './contract.ts'
import { NodeProcess } from './node.ts'

describe('clients over WebSocket deploy a contract and receive its events', () => {
  let node: NodeProcess
  let url: string
  beforeAll(async () => {
    node = await NodeProcess.start(['--workers', '2'])
    url = node.url.replace('http', 'ws')
  })
  afterAll(() => node?.stop())

  test('viem', async () => {
    const abi = parseAbi([
      'constructor(uint256 start)',
      'event Increased(address indexed by, uint256 indexed step, uint256 total)',
      'function increase(uint256 step) returns (uint256)',
    ])
    const chain = defineChain({
      id: 33,
      name: 'regtest',
      nativeCurrency: { name: 'RBTC', symbol: 'RBTC', decimals: 18 },
      rpcUrls: { default: { http: [node.url], webSocket: [url] } },
    })
    const account = privateKeyToAccount(keys[0])
    const reader = createPublicClient({ chain, transport: webSocket(url) })
    const writer = createWalletClient({ chain, transport: webSocket(url), account })
    const hash = await writer.deployContract({ abi, bytecode: counter.bytecode, args: [40n] })
    const address = (await reader.waitForTransactionReceipt({ hash })).contractAddress as `0x${string}`
    let stop = (): void => undefined
    const seen = new Promise<unknown>((resolve, reject) => {
      stop = reader.watchContractEvent({
        abi,
        address,
        eventName: 'Increased',
        args: { step: 7n },
        onLogs: ([log]) => resolve(log?.args),
        onError: reject,
      })
    })
    // Requests of one connection are processed in order: this answer follows the subscription.
    await reader.getBlockNumber()
    await writer.writeContract({ abi, address, functionName: 'increase', args: [2n] })
    await writer.writeContract({ abi, address, functionName: 'increase', args: [7n] })
    expect(await seen).toEqual({ by: account.address, step: 7n, total: 49n })
    stop()
    for (const client of [reader, writer]) await (await client.transport.getRpcClient()).close()
  })

  test('ethers', async () => {
    const provider = new WebSocketProvider(url, undefined, { cacheTimeout: -1 })
    const wallet = new Wallet(keys[1], provider)
    const deployed = await new ContractFactory(counter.abi, counter.bytecode, wallet).deploy(40)
    const contract = new Contract(await (await deployed.waitForDeployment()).getAddress(), counter.abi, wallet)
    const seen = new Promise<unknown[]>((resolve) => {
      void contract.on('Increased', (...values) => resolve(values.slice(0, 3)))
    })
    await provider.send('eth_syncing', [])
    await contract.getFunction('increase')(2)
    expect(await seen).toEqual([wallet.address, 2n, 42n])
    await contract.removeAllListeners()
    await provider.destroy()
  })

  test('web3.js', async () => {
    const web3 = new Web3(url)
    web3.setConfig({ defaultTransactionType: '0x0', transactionPollingInterval: 50 })
    const from = web3.eth.accounts.wallet.add(keys[0])[0]?.address ?? ''
    const deployment = new web3.eth.Contract(counter.abi as ContractAbi).deploy({
      data: counter.bytecode,
      arguments: [40],
    })
    const contract = await deployment.send({ from, gas: String(await deployment.estimateGas({ from })) })
    const events = contract.events.Increased?.({ filter: { step: 3 } })
    const seen = new Promise<unknown>((resolve, reject) => {
      events?.on('data', (event) => resolve(event.returnValues))
      events?.on('error', reject)
    })
    await new Promise<unknown>((resolve) => events?.once('connected', resolve))
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a contract are known at run time only
    const increase = (contract.methods as any).increase
    await increase(2).send({ from, gas: '100000' })
    await increase(3).send({ from, gas: '100000' })
    expect(await seen).toMatchObject({ by: from, step: 3n, total: 45n })
    await events?.unsubscribe()
    web3.provider?.disconnect()
  })
})
