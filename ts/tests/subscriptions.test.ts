import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter } from './contract.ts'
import { NodeProcess } from './node.ts'
import { Client, type Notification } from './webSocket.ts'

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const second = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`

interface Head {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}

const resultsOf = (notifications: readonly Notification[], id: string) =>
  notifications.filter((one) => one.params.subscription === id).map((one) => one.params.result)

describe('subscriptions of a node with several workers', () => {
  let node: NodeProcess
  let contract: string
  beforeAll(async () => {
    const limits = '[ws]\nmaxConnections = 60\nmaxBufferedBytes = 200000\n'
    node = await NodeProcess.start(['--workers', '3'], limits)
    const hash = await node.result('eth_sendTransaction', [
      { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' },
    ])
    contract = (await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
  })
  afterAll(() => node?.stop())
  const raise = () =>
    node.result<string>('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])

  test('behavior: every connection sees every block, in order', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => Client.open(node.url)))
    await Promise.all(clients.map((client) => client.result('eth_subscribe', ['newHeads'])))
    for (let round = 0; round < 10; round++) await node.result('evm_mine')
    const latest = await node.result<Head>('eth_getBlockByNumber', ['latest'])
    for (const client of clients) {
      const heads = (await client.take(10)).map((one) => one.params.result as Head)
      expect(heads).toHaveLength(10)
      expect(heads.at(-1)?.hash).toBe(latest.hash)
      for (const [index, head] of heads.slice(1).entries()) expect(head.parentHash).toBe(heads[index]?.hash)
      await client.close()
    }
  })

  test('behavior: logs equal those of eth_getLogs, pending transactions those sent', async () => {
    const client = await Client.open(node.url)
    const logs = await client.result<string>('eth_subscribe', ['logs', { address: contract, fromBlock: '0x0' }])
    const nobody = await client.result<string>('eth_subscribe', ['logs', { topics: [`0x${'ab'.repeat(32)}`] }])
    const hashes = await client.result<string>('eth_subscribe', ['newPendingTransactions'])
    const whole = await client.result<string>('eth_subscribe', ['newPendingTransactions', true])
    const hash = await raise()
    const got = await client.take(3)
    const [log] = resultsOf(got, logs)
    const { blockHash } = await node.result<{ blockHash: string }>('eth_getTransactionReceipt', [hash])
    expect([log]).toEqual(await node.result('eth_getLogs', [{ blockHash, address: contract }]))
    expect(resultsOf(got, hashes)).toEqual([hash])
    expect(resultsOf(got, nobody)).toEqual([])
    // With instant mining the transaction may be mined when it is looked up.
    expect(resultsOf(got, whole)).toMatchObject([{ hash, from: second, to: contract }])
    expect(await client.result('eth_unsubscribe', [logs])).toBe(true)
    expect(await client.result('eth_unsubscribe', [logs])).toBe(false)
    await raise()
    expect(resultsOf(await client.take(2), logs)).toEqual([])
    await client.close()
  })

  test('behavior: a connection cannot end the subscription of another connection', async () => {
    const [one, other] = [await Client.open(node.url), await Client.open(node.url)]
    const id = await one.result('eth_subscribe', ['newHeads'])
    expect(await other.result('eth_unsubscribe', [id])).toBe(false)
    await node.result('evm_mine')
    expect(await one.take(1)).toHaveLength(1)
    expect(other.notifications).toEqual([])
    await Promise.all([one.close(), other.close()])
  })

  test('behavior: after going back, the blocks that come instead', async () => {
    const client = await Client.open(node.url)
    const snapshot = await node.result('evm_snapshot')
    await client.result('eth_subscribe', ['newHeads'])
    await node.result('evm_mine')
    const [before] = (await client.take(1)).map((one) => one.params.result as Head)
    await node.result('evm_revert', [snapshot])
    // A different time, because the same block would result otherwise.
    await node.result('evm_increaseTime', [60])
    await node.result('evm_mine')
    const [after] = (await client.take(1)).map((one) => one.params.result as Head)
    expect(after?.number).toBe(before?.number)
    expect(after?.parentHash).toBe(before?.parentHash)
    expect(after?.hash).not.toBe(before?.hash)
    await client.close()
  })

  test('behavior: thousands of subscriptions', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => Client.open(node.url)))
    const two = { address: [contract, second] }
    const kinds = [['newHeads'], ['logs', { address: contract }], ['logs', two], ['logs', { address: first }]]
    await Promise.all(
      clients.map(async (client) => {
        for (let index = 0; index < 100; index++) await client.result('eth_subscribe', kinds[index % 4])
      }),
    )
    await expect(clients[0]?.result('eth_subscribe', ['newHeads'])).rejects.toThrow(
      '-32005 Too many subscriptions: 100',
    )
    await raise()
    // Heads, and the log of the contract for its subscribers; the last quarter subscribes to nothing.
    for (const client of clients) expect(await client.take(75)).toHaveLength(75)
    for (const client of clients) client.socket.terminate()
    await node.result('evm_mine')
  })

  test('error: the connection of a subscriber that does not read is closed, others stay', async () => {
    const [slow, quick] = [await Client.open(node.url), await Client.open(node.url)]
    for (let index = 0; index < 100; index++) await slow.result('eth_subscribe', ['newHeads'])
    await quick.result('eth_subscribe', ['newHeads'])
    slow.socket.pause()
    for (let round = 0; round < 50; round++) await node.result('evm_mine')
    // The publication waits for the client for a quarter of a second.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    slow.socket.resume()
    expect(await slow.closed).toEqual({ code: 1013, reason: 'More than 200000 bytes wait to be read' })
    expect(await quick.take(50)).toHaveLength(50)
    await quick.close()
  })

  test('behavior: a thousand subscribers that come and go leave room for others', async () => {
    for (let round = 0; round < 50; round++) {
      const clients = await Promise.all(Array.from({ length: 20 }, () => Client.open(node.url)))
      await Promise.all(clients.map((client) => client.result('eth_subscribe', ['logs', { address: contract }])))
      if (round % 10 === 0) await node.result('evm_mine')
      for (const [index, client] of clients.entries()) {
        if (index % 2 === 0) client.socket.terminate()
        else client.socket.close()
      }
      await Promise.all(clients.map((client) => client.closed))
    }
    const client = await Client.open(node.url)
    await client.result('eth_subscribe', ['newHeads'])
    await node.result('evm_mine')
    expect(await client.take(1)).toHaveLength(1)
    expect(node.errors).toBe('')
    await client.close()
  })

  test('behavior: a node that stops says so', async () => {
    const client = await Client.open(node.url)
    await client.result('eth_subscribe', ['newHeads'])
    const code = node.stop()
    expect(await client.closed).toEqual({ code: 1001, reason: 'Server is shutting down' })
    expect(await code).toBe(0)
  })
})
