import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Contract, type ContractAbi, Web3 } from 'web3'
import { counter, keys } from './contract.ts'
import { NodeProcess } from './node.ts'

describe('web3.js', () => {
  let node: NodeProcess
  let web3: Web3
  let from: string
  let contract: Contract<ContractAbi>

  // biome-ignore lint/suspicious/noExplicitAny: the methods of a contract are known at run time only
  const method = (name: string, ...parameters: unknown[]): any => {
    // biome-ignore lint/suspicious/noExplicitAny: see above
    return (contract.methods as any)[name](...parameters)
  }

  beforeAll(async () => {
    node = await NodeProcess.start()
    web3 = new Web3(node.url)
    web3.eth.transactionPollingInterval = 50
    // Rootstock has no base fee: transactions are of the first kind.
    web3.setConfig({ defaultTransactionType: '0x0' })
    from = web3.eth.accounts.wallet.add(keys[0])[0]?.address ?? ''
    const deployment = new web3.eth.Contract(counter.abi as ContractAbi).deploy({
      data: counter.bytecode,
      arguments: [40],
    })
    contract = await deployment.send({ from, gas: String(await deployment.estimateGas({ from })) })
  })
  afterAll(() => node?.stop())

  test('behavior: reads a deployed contract', async () => {
    expect(await web3.eth.getChainId()).toBe(33n)
    expect(await method('total').call()).toBe(40n)
  })

  test('behavior: a transaction, its receipt and its event with getLogs', async () => {
    const receipt = await method('increase', 2).send({ from, gas: '100000' })
    expect(receipt.status).toBe(1n)
    expect(await method('total').call()).toBe(42n)
    const events = await contract.getPastEvents('Increased' as 'ALLEVENTS', { fromBlock: receipt.blockNumber })
    expect(events).toMatchObject([{ returnValues: { by: from, step: 2n, total: 42n } }])
  })

  test('behavior: a filter of the node', async () => {
    const id = await web3.requestManager.send({
      method: 'eth_newFilter',
      params: [{ address: contract.options.address }],
    })
    await web3.requestManager.send({ method: 'eth_getFilterChanges', params: [id] })
    await method('increase', 3).send({ from, gas: '100000' })
    const logs = (await web3.requestManager.send({ method: 'eth_getFilterChanges', params: [id] })) as unknown[]
    expect(logs).toHaveLength(1)
  })

  test('error: a revert with its reason', async () => {
    const failure = await method('increase', 0)
      .call({ from })
      .catch((error: unknown) => error)
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).toContain('the step is zero')
  })

  test('behavior: many requests at once, as a batch', async () => {
    const batch = new web3.BatchRequest()
    const answers = ['eth_chainId', 'eth_blockNumber', 'eth_nothing'].map((method, index) =>
      batch.add({ jsonrpc: '2.0', id: index + 1, method, params: [] }).catch((error: unknown) => error),
    )
    await batch.execute()
    const [chainId, height, failure] = await Promise.all(answers)
    expect([chainId, BigInt(String(height))]).toEqual(['0x21', await web3.eth.getBlockNumber()])
    expect(JSON.stringify(failure)).toContain('-32601')
  })

  test('behavior: payments', async () => {
    const to = '0x00000000000000000000000000000000000000fd'
    const receipt = await web3.eth.sendTransaction({ from, to, value: web3.utils.toWei('1', 'ether'), gas: '21000' })
    expect(receipt.status).toBe(1n)
    expect(await web3.eth.getBalance(to)).toBe(10n ** 18n)
    expect(await web3.eth.getBlockNumber()).toBe(receipt.blockNumber)
  })
})
