import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'

// Expectations of Hardhat and Foundry: by default on development networks, and with --tools.

const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const stranger = '0x000000000000000000000000000000000000beef'
const contract = '0x00000000000000000000000000000000000c0de5'
/** Reverts with a word; hits an invalid instruction; returns 1. */
const [reverting, halting, fine] = ['0x602a60005260206000fd', '0xfe', '0x600160005260206000f3']

interface Block {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
  readonly transactions: string[]
}

describe('a development network by default', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start()
  })
  afterAll(() => node.stop())

  test('behavior: the client version is known to tools', async () => {
    expect(await node.result('web3_clientVersion')).toMatch(/^anvil\/v1\.0\.0 Rhizome\/\d+\.\d+\.\d+\/\w+-\w+$/)
  })

  test('behavior: an absent block parameter means latest', async () => {
    await node.result('hardhat_setCode', [contract, fine])
    await node.result('evm_mine')
    const one = `0x${'1'.padStart(64, '0')}`
    expect(await node.result('eth_call', [{ to: contract }])).toBe(one)
    expect(await node.result('eth_getCode', [contract])).toBe(fine)
    expect(await node.result('eth_getStorageAt', [contract, '0x0'])).toBe(`0x${'0'.repeat(64)}`)
    expect(await node.result('eth_getBlockByNumber')).toMatchObject({ number: '0x1' })
    expect(await node.result('eth_getBlockReceipts')).toHaveLength(1)
    expect(await node.result('eth_getBlockTransactionCountByNumber')).toBe('0x1')
    expect((await node.ask('eth_call', [{ to: contract }, null])).error?.code).toBe(-32602)
    const { methods } = await node.result<{ methods: { name: string; params: { required: boolean }[] }[] }>(
      'rpc.discover',
    )
    expect(methods.find(({ name }) => name === 'eth_call')?.params.map(({ required }) => required)).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect((await node.ask('eth_call', [])).error?.code).toBe(-32602)
    expect((await node.ask('eth_getTransactionByBlockNumberAndIndex', [])).error?.code).toBe(-32602)
  })

  test('behavior: failing code has an estimate, and REMASC is a transaction like others', async () => {
    expect(await node.result('eth_estimateGas', [{ data: reverting }])).toMatch(/^0x/)
    expect((await node.result<Block>('eth_getBlockByNumber', ['0x1'])).transactions).toHaveLength(1)
  })
})

describe('--tools', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start(['--tools'])
  })
  afterAll(() => node.stop())

  test('behavior: a new chain has a head of the present', async () => {
    const head = await node.result<Block>('eth_getBlockByNumber')
    expect([head.number, Math.abs(Number(head.timestamp) - Date.now() / 1000) < 60]).toEqual(['0x1', true])
  })

  test('behavior: blocks leave out the REMASC transaction, its hash finds it', async () => {
    const sent = await node.result('eth_sendTransaction', [{ from: cow, to: stranger, value: '0x1' }])
    const { hash, number } = await node.result<Block>('eth_getBlockByNumber')
    for (const [way, id] of [
      ['Hash', hash],
      ['Number', number],
    ]) {
      expect(await node.result(`eth_getBlockBy${way}`, [id, false])).toMatchObject({ transactions: [sent] })
      expect(await node.result(`eth_getBlockBy${way}`, [id, true])).toMatchObject({ transactions: [{ hash: sent }] })
      expect(await node.result(`eth_getBlockTransactionCountBy${way}`, [id])).toBe('0x1')
      for (const method of ['eth_getTransactionByBlock', 'eth_getRawTransactionByBlock']) {
        expect(await node.result(`${method}${way}AndIndex`, [id, '0x0'])).not.toBe(null)
        expect(await node.result(`${method}${way}AndIndex`, [id, '0x1'])).toBe(null)
      }
    }
    expect(await node.result('eth_getBlockReceipts', [hash])).toMatchObject([{ transactionHash: sent }])
    const receipts = await node.result<string[]>('debug_getRawReceipts', [hash])
    expect(receipts).toHaveLength(2)
    const traces = await node.result<{ txHash: string }[]>('debug_traceBlockByHash', [hash])
    const remasc = traces.map(({ txHash }) => txHash).find((one) => one !== sent)
    if (remasc !== undefined) {
      expect(await node.result('eth_getTransactionByHash', [remasc])).toMatchObject({ transactionIndex: '0x1' })
      expect(await node.result('eth_getTransactionReceipt', [remasc])).toMatchObject({ blockHash: hash })
    }
    await node.result('evm_mine')
    expect((await node.result<Block>('eth_getBlockByNumber')).transactions).toEqual([])
    expect(await node.result('eth_getBlockTransactionCountByNumber')).toBe('0x0')
    expect(await node.result('eth_getBlockReceipts')).toEqual([])
  })

  test('behavior: an estimate of code that reverts or halts is refused, one without the balance is not', async () => {
    const { error } = await node.ask('eth_estimateGas', [{ data: reverting }])
    expect(error).toMatchObject({ code: -32015, data: `0x${'2a'.padStart(64, '0')}` })
    expect((await node.ask('eth_estimateGas', [{ data: halting }])).error).toMatchObject({
      code: -32015,
      message: expect.stringContaining('invalid opcode'),
    })
    const poor = { from: stranger, to: cow, value: '0xffffffffffffffffffff' }
    expect(await node.result('eth_estimateGas', [poor])).toBe('0x5208')
    expect(await node.result('eth_estimateGas', [{ data: fine }])).toMatch(/^0x/)
  })

  test('behavior: the pool is emptied, as a whole and by sender', async () => {
    await node.result('evm_setAutomine', [false])
    const accounts = await node.result<string[]>('eth_accounts')
    const [first, second] = accounts as [string, string]
    const send = (from: string, nonce?: string) => node.result('eth_sendTransaction', [{ from, to: stranger, nonce }])
    const nonceAfter = async (from: string, more: number) =>
      `0x${(Number(await node.result('eth_getTransactionCount', [from, 'pending'])) + more).toString(16)}`
    const kept = await send(second)
    await send(first)
    await send(first, await nonceAfter(first, 2))
    expect(await node.result('anvil_removePoolTransactions', [first])).toBe(null)
    expect(await node.result('txpool_status')).toEqual({ pending: 1, queued: 0 })
    expect(await node.result('eth_getTransactionByHash', [kept])).toMatchObject({ from: second })
    expect(await node.result('anvil_dropAllTransactions')).toBe(null)
    expect(await node.result('txpool_status')).toEqual({ pending: 0, queued: 0 })
    await node.result('evm_setAutomine', [true])
  })

  test('behavior: every address may send, as long as that is on', async () => {
    const send = { from: stranger, to: cow, gasPrice: '0x0' }
    expect((await node.ask('eth_sendTransaction', [send])).error?.code).toBe(-32602)
    expect(await node.result('anvil_autoImpersonateAccount', [true])).toBe(null)
    const hash = await node.result('eth_sendTransaction', [send])
    expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ from: stranger, status: '0x1' })
    await node.result('anvil_autoImpersonateAccount', [false])
    expect((await node.ask('eth_sendTransaction', [send])).error?.code).toBe(-32602)
  })

  test('behavior: a fixed interval between blocks, and the clock', async () => {
    const time = async () => Number((await node.result<Block>('eth_getBlockByNumber')).timestamp)
    await node.result('evm_mine')
    const begun = await time()
    expect(await node.result('anvil_setBlockTimestampInterval', [600])).toBe(null)
    await node.result('evm_mine', [{ blocks: 2 }])
    expect(await time()).toBe(begun + 1200)
    await node.result('evm_increaseTime', [50])
    await node.result('evm_mine')
    expect(await time()).toBe(begun + 1850)
    await node.result('evm_mine')
    expect(await time()).toBe(begun + 2450)
    expect(await node.result('anvil_removeBlockTimestampInterval')).toBe(true)
    expect(await node.result('anvil_removeBlockTimestampInterval')).toBe(false)
    await node.result('evm_mine')
    expect((await time()) - begun - 2450).toBeLessThan(60)
    const moment = (await time()) + 100_000
    expect(await node.result<number>('evm_setTime', [moment])).toBeGreaterThan(99_000)
    await node.result('evm_mine')
    expect((await time()) - moment).toBeLessThan(60)
    expect((await node.ask('evm_setTime', [moment - 1000])).error?.code).toBe(-32602)
  })

  test('behavior: methods without a meaning on Rootstock succeed', async () => {
    expect(await node.result('hardhat_setPrevRandao', [`0x${'11'.repeat(32)}`])).toBe(true)
    expect(await node.result('hardhat_setNextBlockBaseFeePerGas', ['0x1'])).toBe(true)
    expect(await node.result('anvil_setLoggingEnabled', [true])).toBe(null)
    expect((await node.ask('hardhat_setPrevRandao', ['0x11'])).error?.code).toBe(-32602)
  })

  test('behavior: information about the node', async () => {
    const head = await node.result<Block>('eth_getBlockByNumber')
    const [number, timestamp] = [Number(head.number), Number(head.timestamp)]
    const id = await node.result<string>('evm_snapshot')
    const metadata = await node.result<{ instanceId: string }>('hardhat_metadata')
    expect(metadata).toEqual({
      clientVersion: await node.result('web3_clientVersion'),
      chainId: 33,
      instanceId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      latestBlockNumber: number,
      latestBlockHash: head.hash,
      forkedNetwork: null,
      snapshots: { [id]: [number, head.hash] },
    })
    expect(await node.result('anvil_nodeInfo')).toMatchObject({
      currentBlockNumber: head.number,
      currentBlockTimestamp: timestamp,
      currentBlockHash: head.hash,
      hardFork: 'vetiver900',
      environment: { baseFee: '0x0', chainId: 33 },
    })
    await node.result('hardhat_reset')
    const fresh = await node.result<typeof metadata>('anvil_metadata')
    // As at the start, with the block that has the current time.
    expect(fresh).toMatchObject({ latestBlockNumber: 1, snapshots: {} })
    expect(fresh.instanceId).not.toBe(metadata.instanceId)
  })
})

test('behavior: a public network has its own client version and no such methods', async () => {
  const node = await NodeProcess.start(['--network', 'testnet'])
  expect(await node.result('web3_clientVersion')).toMatch(/^Rhizome\//)
  expect((await node.ask('eth_call', [{ to: contract }])).error?.code).toBe(-32602)
  for (const method of ['hardhat_setCoinbase', 'evm_setTime', 'eth_sendUnsignedTransaction']) {
    expect((await node.ask(method, [{}])).error?.code, method).toBe(-32601)
  }
  expect((await node.ask('anvil_nodeInfo')).error?.code).toBe(-32601)
  await node.stop()
})

test('behavior: the blocks that --tools shows without REMASC are the same bytes', { timeout: 60_000 }, async () => {
  const exported = []
  const settings = '[miner]\nfixedClock = true\n'
  for (const flags of [[], ['--tools']]) {
    const folder = scratchFolder()
    const data = ['--data-dir', join(folder, 'data')]
    const node = await NodeProcess.start([...data, ...flags], settings)
    // --tools begins with an empty block.
    if (flags.length === 0) await node.result('evm_mine')
    for (let value = 1; value <= 5; value++) {
      await node.result('evm_increaseTime', [7])
      await node.result('eth_sendTransaction', [{ from: cow, to: stranger, value: `0x${value}` }])
    }
    await node.result('eth_sendTransaction', [{ from: cow, data: '0x600a600c600039600a6000f3602a60005260206000f3' }])
    await node.result('evm_mine')
    await node.stop()
    // An existing chain gets no additional block.
    const again = await NodeProcess.start([...data, ...flags], settings)
    expect(await again.result('eth_blockNumber')).toBe('0x8')
    await again.stop()
    const path = join(folder, 'blocks')
    expect((await runCommand(['export', path, '--from', '0', '--to', '8', ...data])).code).toBe(0)
    exported.push(readFileSync(path, 'utf8'))
  }
  expect(exported[0]?.trimEnd().split('\n')).toHaveLength(9)
  expect(exported[1]).toBe(exported[0])
})
