import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counter } from './contract.ts'
import { NodeProcess } from './node.ts'

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const second = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** increase(1) */
const increase = `0x30f3f0db${'1'.padStart(64, '0')}`

interface Log {
  readonly blockNumber: string
  readonly removed: boolean
}
interface Range {
  readonly fromBlock: string
  readonly toBlock: string
}

// Block 1 has the contract, each of the blocks 2 to 13 one log of it.
describe('limits of log searches: 3 blocks without a cap, 5 logs beyond', () => {
  let node: NodeProcess
  let address: string
  beforeAll(async () => {
    node = await NodeProcess.start([], '[rpc]\nlogBlocks = 3\nlogCount = 5\n')
    const creation = { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' }
    const hash = await node.result('eth_sendTransaction', [creation])
    address = (await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
    for (let round = 0; round < 12; round++) {
      await node.result('eth_sendTransaction', [{ from: second, to: address, data: increase, gas: '0x30d40' }])
    }
  })
  afterAll(() => node?.stop())

  test('behavior: a wide range with few logs, a narrow one with any number', async () => {
    expect(await node.result('eth_getLogs', [{ address, fromBlock: '0x1', toBlock: '0x6' }])).toHaveLength(5)
    expect(await node.result('eth_getLogs', [{ address: second, fromBlock: 'earliest' }])).toEqual([])
    // Without an address, the logs of the REMASC contract are included: more than the limit of wider ranges.
    const narrow = await node.result<Log[]>('eth_getLogs', [{ fromBlock: '0xb', toBlock: '0xd' }])
    expect(narrow.length).toBeGreaterThan(2)
    expect(new Set(narrow.map((log) => log.removed))).toEqual(new Set([false]))
  })

  test('error: a refusal says which limit, how many, and the largest range that fits', async () => {
    const { error } = await node.ask('eth_getLogs', [{ address, fromBlock: '0x0', toBlock: '0x99' }])
    expect(error).toEqual({
      code: -32012,
      message:
        'Filter returned more than 5 logs. (filter: expected at most 5 logs, or at most 3 blocks; blocks 0x0 to 0xd are ' +
        '14 blocks and hold more than 5 logs. Try with this block range [0x0, 0x6])',
      data: { limit: 'logs', maximumLogs: 5, maximumBlocks: 3, blocks: 14, logs: 6, fromBlock: '0x0', toBlock: '0x6' },
    })
  })

  test('behavior: a program finds its way through any range by the data of the refusals', async () => {
    const found: Log[] = []
    let range: Range = { fromBlock: '0x0', toBlock: '0xd' }
    while (Number(range.fromBlock) <= 0xd) {
      const { result, error } = await node.ask('eth_getLogs', [{ address, ...range }])
      if (error === undefined) {
        found.push(...((result ?? []) as Log[]))
        range = { fromBlock: `0x${(Number(range.toBlock) + 1).toString(16)}`, toBlock: '0xd' }
      } else {
        const { fromBlock, toBlock } = error.data as unknown as Range
        expect(Number(toBlock)).toBeLessThan(Number(range.toBlock))
        range = { fromBlock, toBlock }
      }
    }
    expect(found.map((log) => Number(log.blockNumber))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  })

  test('error: a filter whose first poll could not succeed is not installed', async () => {
    const { error } = await node.ask('eth_newFilter', [{ address, fromBlock: '0x1' }])
    expect(error).toMatchObject({ code: -32012, data: { fromBlock: '0x1', toBlock: '0x6' } })
    const id = await node.result<string>('eth_newFilter', [{ address, fromBlock: '0x9' }])
    expect(await node.result('eth_getFilterChanges', [id])).toHaveLength(5)
    // A QUANTITY in upper or lower case.
    expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{31}$/)
    expect(await node.result('eth_getFilterLogs', [id.toUpperCase().replace('X', 'x')])).toHaveLength(5)
  })
})

describe('limits of log searches: 2,000 bytes', () => {
  let node: NodeProcess
  let address: string
  beforeAll(async () => {
    node = await NodeProcess.start([], '[rpc]\nmaxResponseBytes = 2000\n')
    const creation = { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' }
    const hash = await node.result('eth_sendTransaction', [creation])
    address = (await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress
    for (let round = 0; round < 12; round++) {
      await node.result('eth_sendTransaction', [{ from: second, to: address, data: increase, gas: '0x30d40' }])
    }
  })
  afterAll(() => node?.stop())

  test('error: too many bytes name the range that fits, which is answered', async () => {
    const { error } = await node.ask('eth_getLogs', [{ address, fromBlock: '0x0', toBlock: 'latest' }])
    const data = error?.data as unknown as Range & { limit: string; maximumBytes: number }
    expect([error?.code, data.limit, data.maximumBytes, data.fromBlock]).toEqual([-32012, 'bytes', 2000, '0x0'])
    const { fromBlock, toBlock } = data
    const found = await node.result<Log[]>('eth_getLogs', [{ address, fromBlock, toBlock }])
    expect(Number(found.at(-1)?.blockNumber)).toBe(Number(toBlock))
  })

  test('error: a poll with too many bytes is refused, and the filter stays', async () => {
    const id = await node.result('eth_newFilter', [{ address, fromBlock: '0xb' }])
    expect(await node.result('eth_getFilterChanges', [id])).toHaveLength(3)
    for (let round = 0; round < 10; round++) {
      await node.result('eth_sendTransaction', [{ from: second, to: address, data: increase, gas: '0x30d40' }])
    }
    for (const method of ['eth_getFilterChanges', 'eth_getFilterChanges', 'eth_getFilterLogs']) {
      expect((await node.ask(method, [id])).error).toMatchObject({ code: -32012, data: { limit: 'bytes' } })
    }
  })
})
