import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter } from './contract.ts'
import { NodeProcess } from './node.ts'
import { exchange } from './rawSocket.ts'

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const second = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`

describe('filters of a node with several workers', () => {
  let node: NodeProcess
  let contract: string
  beforeAll(async () => {
    node = await NodeProcess.start(['--workers', '3'])
    const hash = await node.result('eth_sendTransaction', [
      { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' },
    ])
    contract = (await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
  })
  afterAll(() => node?.stop())

  /** Sends a request over a new connection, which the kernel assigns to any worker. */
  async function askAnew(method: string, params: unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    const { text } = await exchange(Number(new URL(node.url).port), head + body, 50)
    return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)).result
  }

  test('behavior: a filter is polled through any connection, and returns no change twice', async () => {
    const id = await askAnew('eth_newFilter', [{ address: contract }])
    await askAnew('eth_getFilterChanges', [id])
    const found: unknown[] = []
    for (let round = 0; round < 12; round++) {
      await node.result('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])
      found.push(...((await askAnew('eth_getFilterChanges', [id])) as unknown[]))
    }
    expect(found).toHaveLength(12)
    expect(await askAnew('eth_getFilterLogs', [id])).toEqual(found.slice(-1))
    expect(await askAnew('eth_uninstallFilter', [id])).toBe(true)
    expect(await askAnew('eth_uninstallFilter', [id])).toBe(false)
  })

  test('behavior: block and pending filters', async () => {
    const blocks = await node.result('eth_newBlockFilter')
    const pending = await node.result('eth_newPendingTransactionFilter')
    const hash = await node.result('eth_sendTransaction', [{ from: first, to: second }])
    await node.result('evm_mine')
    const hashes = await node.result<string[]>('eth_getFilterChanges', [blocks])
    expect(hashes).toHaveLength(2)
    expect(hashes.at(-1)).toBe((await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest'])).hash)
    expect(await node.result('eth_getFilterChanges', [pending])).toEqual([hash])
    expect(await node.result('eth_getFilterChanges', [blocks])).toEqual([])
    expect(await node.result('eth_getFilterLogs', [blocks])).toEqual(hashes)
    expect(await node.result('eth_getFilterLogs', [pending])).toEqual([hash])
  })

  test('behavior: going back to a snapshot takes logs away', async () => {
    const snapshot = await node.result('evm_snapshot')
    const id = await node.result('eth_newFilter', [{ address: contract, fromBlock: 'earliest' }])
    const before = (await node.result<unknown[]>('eth_getFilterChanges', [id])).length
    await node.result('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])
    expect(await node.result('eth_getFilterLogs', [id])).toHaveLength(before + 1)
    expect(await node.result('evm_revert', [snapshot])).toBe(true)
    expect(await node.result('eth_getFilterLogs', [id])).toHaveLength(before)
  })

  test('behavior: a filter without fromBlock returns the logs of a block that replaces the head', async () => {
    const log = () =>
      node.result('eth_sendTransaction', [{ from: second, to: contract, data: increase, gas: '0x30d40' }])
    const snapshot = await node.result('evm_snapshot')
    await node.result('evm_mine')
    const head = await node.result('eth_blockNumber')
    const id = await node.result('eth_newFilter', [{ address: contract }])
    await node.result('evm_revert', [snapshot])
    await log()
    expect(await node.result('eth_blockNumber')).toBe(head)
    expect(await node.result('eth_getFilterChanges', [id])).toMatchObject([{ blockNumber: head, removed: false }])
    await log()
    expect(await node.result('eth_getFilterChanges', [id])).toHaveLength(1)
  })

  test('behavior: block filters follow the chain back and forth', async () => {
    const snapshot = await node.result('evm_snapshot')
    const id = await node.result('eth_newBlockFilter')
    await node.result('evm_mine')
    await node.result('evm_mine')
    expect(await node.result('eth_getFilterChanges', [id])).toHaveLength(2)
    await node.result('evm_revert', [snapshot])
    // A different time, because the same block would result otherwise.
    await node.result('evm_increaseTime', [60])
    await node.result('evm_mine')
    const { hash } = await node.result<{ hash: string }>('eth_getBlockByNumber', ['latest'])
    expect(await node.result('eth_getFilterChanges', [id])).toEqual([hash])
  })
})
