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

/** Creates a contract in block 1, whose logs are one in each of the blocks 2 to 13. Returns its address. */
async function createLogs(node: NodeProcess): Promise<string> {
  const creation = { from: first, data: counter.bytecode + '0'.repeat(64), gas: '0x100000' }
  const hash = await node.result('eth_sendTransaction', [creation])
  const { contractAddress } = await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
  for (let round = 0; round < 12; round++) await addLog(node, contractAddress)
  return contractAddress
}

function addLog(node: NodeProcess, to: string): Promise<unknown> {
  return node.result('eth_sendTransaction', [{ from: second, to, data: increase, gas: '0x30d40' }])
}

/** Reads the logs of all blocks; after an error in the range of its data. Returns their blocks. */
async function readAll(node: NodeProcess, address: string): Promise<number[]> {
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
  return found.map((log) => Number(log.blockNumber))
}

const blocksWithLogs = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]

describe('limits of log searches: 3 blocks without a cap, 5 logs beyond', () => {
  let node: NodeProcess
  let address: string
  beforeAll(async () => {
    node = await NodeProcess.start([], '[rpc]\nlogBlocks = 3\nlogCount = 5\n')
    address = await createLogs(node)
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
    expect(await readAll(node, address)).toEqual(blocksWithLogs)
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

describe('limit of bytes: 4000 for an answer', () => {
  let node: NodeProcess
  let address: string
  beforeAll(async () => {
    node = await NodeProcess.start([], '[rpc]\nmaxResponseBytes = 4000\n')
    address = await createLogs(node)
  })
  afterAll(() => node?.stop())

  test('error: the error has the largest range that fits', async () => {
    const { error } = await node.ask('eth_getLogs', [{ address, fromBlock: '0x1', toBlock: '0xd' }])
    const { toBlock } = error?.data as unknown as Range
    expect(error).toEqual({
      code: -32012,
      message:
        'Filter returned more than 4000 bytes. (filter: expected at most 4000 bytes of logs; blocks 0x1 to 0xd hold more. ' +
        `Try with this block range [0x1, ${toBlock}])`,
      data: { limit: 'bytes', maximumBytes: 4000, blocks: 13, fromBlock: '0x1', toBlock },
    })
    const logs = await node.result<Log[]>('eth_getLogs', [{ address, fromBlock: '0x1', toBlock }])
    expect(logs.at(-1)?.blockNumber).toBe(toBlock)
    const next = `0x${(Number(toBlock) + 1).toString(16)}`
    expect((await node.ask('eth_getLogs', [{ address, fromBlock: '0x1', toBlock: next }])).error?.code).toBe(-32012)
  })

  test('behavior: a program finds its way through any range by the data of the errors', async () => {
    expect(await readAll(node, address)).toEqual(blocksWithLogs)
  })

  test('error: a filter whose first poll would be too large is not installed', async () => {
    const { error } = await node.ask('eth_newFilter', [{ address, fromBlock: '0x1' }])
    expect(error).toMatchObject({ code: -32012, data: { limit: 'bytes', fromBlock: '0x1' } })
  })

  test('behavior: polls of a filter return what fits, all logs of a filter are too large', async () => {
    const id = await node.result<string>('eth_newFilter', [{ address, fromBlock: '0xd' }])
    const numbers = async () =>
      (await node.result<Log[]>('eth_getFilterChanges', [id])).map((log) => Number(log.blockNumber))
    expect(await numbers()).toEqual([13])
    for (let round = 0; round < 12; round++) await addLog(node, address)
    const first = await numbers()
    expect(first.length).toBeGreaterThan(3)
    expect([...first, ...(await numbers())]).toEqual([14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25])
    expect(await numbers()).toEqual([])
    expect((await node.ask('eth_getFilterLogs', [id])).error).toMatchObject({
      code: -32012,
      data: { fromBlock: '0xd' },
    })
  })

  test('error: the limit applies to the sum of a batch', async () => {
    const filter = { address, fromBlock: '0x2', toBlock: '0x6' }
    const calls = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_getLogs', params: [filter] }))
    const { body } = await node.post(JSON.stringify(calls), { 'content-type': 'application/json' })
    const answers = body as unknown as { result?: Log[]; error?: { code: number } }[]
    expect(answers.filter(({ result }) => result?.length === 5)).toHaveLength(1)
    const codes = answers.flatMap(({ error }) => (error === undefined ? [] : [error.code]))
    // Searches that run at the same time are rejected when they are done.
    expect(codes.map((code) => code === -32011 || code === -32012)).toEqual([true, true])
  })
})

test('error: the pool is larger than an answer', async () => {
  const node = await NodeProcess.start(['--mining', 'off'], '[rpc]\nmaxResponseBytes = 2000\n')
  for (let round = 0; round < 8; round++) {
    await node.result('eth_sendTransaction', [{ from: first, to: second, value: '0x1' }])
  }
  const methods = ['txpool_content', 'txpool_inspect', 'eth_pendingTransactions'].map((method) => node.ask(method, []))
  const answers = await Promise.all(methods)
  const tooLarge = { code: -32011, message: 'Response size limit of 2000 bytes exceeded' }
  expect(answers.map(({ error }) => error)).toEqual([tooLarge, undefined, tooLarge])
  await node.stop()
})
